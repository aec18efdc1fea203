// Applies a placement decision with ONE patch; if the API server refuses it, with a smaller one.
import { classifyWriteFailure, isForbidden } from "../../lib/k8s/api_error.ts";
import { readOptional } from "../../lib/k8s/api.ts";
import type { JsonPatch } from "../../lib/k8s/patch.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import type { PlacementDecision } from "../../lib/placement/decide/decision_types.ts";
import {
  decideAfterFailure,
  type ReleaseFailure,
  type ReleaseStep,
  stepPatch,
} from "../../lib/placement/decide/patch/escalation.ts";
import { decisionPatch } from "../../lib/placement/decide/patch/decision_patch.ts";
import { parsePod, type PodView } from "../../lib/placement/decide/pod/pod_view.ts";
import { isGated } from "../../lib/placement/decide/pod/constraints.ts";
import type { PodPlacementDeps } from "./deps.ts";
import type { PodState } from "./pod_states.ts";
import { reportOutcome } from "./report.ts";

export type ApplyOutcome =
  | { readonly kind: "written" }
  | { readonly kind: "gone" }
  /** The pod has changed since the decision: this is its current state. */
  | { readonly kind: "changed"; readonly pod: PodView }
  | { readonly kind: "failed"; readonly why: string };

interface DecidedPod {
  readonly decision: PlacementDecision;
  readonly state: PodState;
  readonly rereads: number;
  readonly signal: AbortSignal;
}

type Writing = Pick<PodPlacementDeps, "api"> & Pick<DecidedPod, "signal">;

/** Writes the decision and reports it. Throws only when the signal aborts. */
export async function applyDecision(deps: PodPlacementDeps, pod: PodView, decided: DecidedPod): Promise<ApplyOutcome> {
  return await (decided.decision.kind === "retry" ? markRetry(deps, pod, decided) : release(deps, pod, decided));
}

/** Marks a pod that stays gated. A refusal is only logged, since the pod stays gated anyway. */
async function markRetry(
  deps: PodPlacementDeps,
  pod: PodView,
  { decision, state, signal }: DecidedPod,
): Promise<ApplyOutcome> {
  const operations = decisionPatch(pod, decision);
  if (operations.length === 0) return { kind: "written" };
  const error = await tryPatch({ api: deps.api, signal }, pod, operations);
  const failure = error === undefined ? undefined : classifyWriteFailure(error);
  if (failure === "gone") return { kind: "gone" };
  if (error !== undefined) {
    const { namespace, name } = pod;
    deps.log.debug("marks of a failed inspection were not taken", { namespace, pod: name, reason: errorText(error) });
  }
  // A changed pod is decided again when the watch shows it.
  if (failure !== "stale") reportOutcome(deps, pod, { outcome: { kind: "applied", decision }, state });
  return { kind: "written" };
}

async function release(deps: PodPlacementDeps, pod: PodView, decided: DecidedPod): Promise<ApplyOutcome> {
  const { decision, state, rereads, signal } = decided;
  const writing = { api: deps.api, signal };
  const refusals: string[] = [];
  let current = pod;
  let step: ReleaseStep = "full";
  for (;;) {
    const operations = stepPatch(current, step, { decision, why: refusals[0] ?? "" });
    if (operations.length === 0) return { kind: "gone" };
    const error = await tryPatch(writing, current, operations);
    if (error === undefined) break;
    const examined = await examine(writing, current, error);
    if (examined === undefined) return { kind: "gone" };
    const { failure } = examined;
    current = examined.pod;
    const why = errorText(error);
    const next = decideAfterFailure({
      step,
      failure,
      rereads,
      unanswered: failure === "unanswered" ? state.countUnansweredWrite() : 0,
      isOverdue: state.leftMs() <= 0,
    });
    if (next.kind === "decideAgain") return { kind: "changed", pod: current };
    if (next.kind === "wait") return failed(deps, pod, { state, refusals: [...refusals, why] });
    deps.log.warn("release refused by the API server", { namespace: pod.namespace, pod: pod.name, step, reason: why });
    refusals.push(why);
    step = next.step;
  }
  const outcome = step === "full"
    ? { kind: "applied", decision } as const
    : { kind: "reduced", step, decision, why: textOf(refusals) } as const;
  reportOutcome(deps, pod, { outcome, state });
  return { kind: "written" };
}

function textOf(refusals: readonly string[]): string {
  return [...new Set(refusals)].join(" Then: ");
}

function failed(
  deps: PodPlacementDeps,
  pod: PodView,
  { state, refusals }: { readonly state: PodState; readonly refusals: readonly string[] },
): ApplyOutcome {
  const why = textOf(refusals);
  if (refusals.length > 1 && state.noteRefusal(why)) {
    reportOutcome(deps, pod, { outcome: { kind: "refused", why }, state });
  }
  return { kind: "failed", why };
}

/** Why a write failed; undefined if pod or gate is gone. Only the pod shows if it changed or the write succeeded. */
async function examine(
  { api, signal }: Writing,
  pod: PodView,
  error: unknown,
): Promise<{ readonly failure: ReleaseFailure; readonly pod: PodView } | undefined> {
  const kind = classifyWriteFailure(error);
  if (kind === "gone") return undefined;
  if (kind === "refused") return { failure: "refused", pod };
  if (isForbidden(error)) return { failure: "denied", pod };
  const { namespace, name, uid } = pod;
  let now: PodView | undefined;
  try {
    now = parsePod(await readOptional(api, { type: Resource.pods, namespace, name, signal }));
  } catch (fault) {
    signal.throwIfAborted();
    if (!isForbidden(fault)) return { failure: "unreachable", pod };
    // Without the right to read pods, assume that the pod is unchanged.
    now = pod;
  }
  if (now === undefined || now.uid !== uid || !isGated(now)) return undefined;
  if (kind === "transient") return { failure: "unanswered", pod: now };
  return { failure: now.resourceVersion === pod.resourceVersion ? "denied" : "changed", pod: now };
}

/** The error of a failed patch. Throws when the signal aborts. */
async function tryPatch(
  { api, signal }: Writing,
  { namespace, name }: PodView,
  operations: JsonPatch,
): Promise<unknown> {
  try {
    await api.patch(Resource.pods, { namespace, name }, { body: { kind: "json", operations }, signal });
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return error;
  }
}
