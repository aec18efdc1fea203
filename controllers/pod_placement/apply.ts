// Carries out a placement decision: ONE patch, then events, metrics and one log line. Called by controller.ts.
import { classifyWriteFailure } from "../../lib/k8s/errors.ts";
import type { JsonPatch } from "../../lib/k8s/patch.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import type { PlacementDecision } from "../../lib/placement/decision_types.ts";
import { decisionReason } from "../../lib/placement/report/reason.ts";
import { bareReleasePatch, releasePatch } from "../../lib/placement/patch/release_patch.ts";
import { gateAddedReport, type PodOutcome, reportsOf } from "../../lib/placement/report/reports.ts";
import { podRef } from "../../lib/placement/pod_refs.ts";
import type { PodView } from "../../lib/placement/types.ts";
import type { PlacedReport } from "../../lib/placement/report/report_slots.ts";
import type { PodPlacementDeps } from "./deps.ts";

/** What came of a write. `stale`: the pod is not what the decision read; read and decide again. */
export type Applied = { readonly kind: "written" } | { readonly kind: "gone" } | { readonly kind: "stale" };

/** Writes the decision and reports it. Throws when the API server could not be reached or is overloaded. */
export async function applyDecision(
  parts: PodPlacementDeps,
  pod: PodView,
  options: { readonly decision: PlacementDecision; readonly gateAgeMs: number; readonly signal: AbortSignal },
): Promise<Applied> {
  const { decision, gateAgeMs, signal } = options;
  const operations = releasePatch(pod, decision);
  if (operations.length === 0) return { kind: "written" };
  try {
    await patchPod(parts, pod, { operations, signal });
  } catch (error) {
    const failure = classifyWriteFailure(error);
    if (failure === "gone" || failure === "stale") return { kind: failure };
    // What a waiting pod wanted noted can wait as well; only a refused release must end in some other release.
    if (failure === "later" || decision.kind === "retry") throw error;
    return await releaseBare(parts, pod, { ...options, why: errorText(error) });
  }
  report(parts, pod, { outcome: { kind: "applied", decision }, gateAgeMs });
  return { kind: "written" };
}

/** The server refuses what we decided and will refuse it again: a pod that runs unconstrained beats one that never runs. */
async function releaseBare(
  parts: PodPlacementDeps,
  pod: PodView,
  options: {
    readonly decision: PlacementDecision;
    readonly gateAgeMs: number;
    readonly signal: AbortSignal;
    readonly why: string;
  },
): Promise<Applied> {
  const { decision, gateAgeMs, signal, why } = options;
  parts.log.warn("placement refused by the API server", { ...nameOf(pod), reason: why });
  try {
    await patchPod(parts, pod, { operations: bareReleasePatch(pod, why), signal });
  } catch (error) {
    const failure = classifyWriteFailure(error);
    if (failure === "gone" || failure === "stale") return { kind: failure };
    report(parts, pod, { outcome: { kind: "refused", why: errorText(error) }, gateAgeMs });
    throw error;
  }
  report(parts, pod, { outcome: { kind: "bare", decision, why }, gateAgeMs });
  return { kind: "written" };
}

async function patchPod(
  parts: PodPlacementDeps,
  pod: PodView,
  { operations, signal }: { readonly operations: JsonPatch; readonly signal: AbortSignal },
): Promise<void> {
  const target = { namespace: pod.namespace, name: pod.name };
  await parts.api.patch(Resource.pods, target, { body: { kind: "json", operations }, signal });
}

function report(
  parts: PodPlacementDeps,
  pod: PodView,
  { outcome, gateAgeMs }: { readonly outcome: PodOutcome; readonly gateAgeMs: number },
): void {
  postReports(parts, pod, reportsOf(pod, outcome));
  if (outcome.kind === "refused") return;
  const { decision } = outcome;
  const kind = outcome.kind === "bare" ? "bare" : decision.kind;
  const reason = decisionReason(decision);
  parts.metrics.decision(kind);
  const architectures = kind === "bare" ? [] : architecturesOf(decision);
  parts.board.record({ atMs: parts.clock.nowMs(), ...nameOf(pod), kind, reason, architectures, gatedMs: gateAgeMs });
  const fields = { ...nameOf(pod), reason, gatedMs: Math.round(gateAgeMs) };
  if (decision.kind === "retry") return parts.log.debug("image inspection failed, will ask again", fields);
  parts.metrics.gateReleased(gateAgeMs);
  parts.log.info("pod released", fields);
}

/** Posts the event that tells of the gate; once a pod. */
export function reportGated(parts: PodPlacementDeps, pod: PodView): void {
  postReports(parts, pod, [gateAddedReport()]);
}

function postReports(parts: PodPlacementDeps, pod: PodView, reports: readonly PlacedReport[]): void {
  const object = podRef(pod);
  for (const report of reports) parts.events.record({ object, ...report });
}

/** What the pod is now constrained to; empty when to nothing. */
function architecturesOf(decision: PlacementDecision): readonly string[] {
  if (decision.kind === "fallback") return [decision.architecture];
  return decision.kind === "place" && decision.required.kind === "in" ? decision.required.architectures : [];
}

function nameOf(pod: PodView): { readonly namespace: string; readonly pod: string } {
  return { namespace: pod.namespace, pod: pod.name };
}
