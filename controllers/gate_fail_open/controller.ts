// Ungates overdue pods when no replica leads. Runs on every replica, even without permission to write the Lease. It
// writes without holding the Lease, by a client that can only remove gates.
//
//   Lease silent, and read again without a renewal ─▶ list of gated pods ─▶ key ─▶ overdue? ─▶ gate off ─▶ report
import { jitter } from "../../lib/clock.ts";
import type { DecisionRing } from "../../lib/placement/cluster/decision_ring.ts";
import { listGatedPods, type Ungater } from "../../lib/placement/cluster/ungate.ts";
import { serverNowMs } from "../../lib/k8s/api.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import { LeaderWatch, type LeaderWatchDeps } from "../../lib/k8s/leader_watch.ts";
import { keyOf, splitKey } from "../../lib/k8s/types.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import { errorText } from "../../lib/log.ts";
import type { PlacementMetrics } from "../../lib/placement/metrics.ts";
import { EventReason, SCHEDULING_GATE } from "../../lib/names.ts";
import {
  GATE_ABSENCE_LIMITS,
  overdueInMs,
  renderLeaderlessUngating,
} from "../../lib/placement/decide/gate_fail_open.ts";
import { podObject, type PodRef } from "../../lib/placement/decide/pod/pod_refs.ts";
import { type Controller, type ControllerDeps, DONE, openController, requeueAfter } from "../controller.ts";

/** `api` has its own connections, so it works even if the rest of the process hangs. */
interface GateFailOpenDeps extends LeaderWatchDeps, ControllerDeps {
  readonly ungater: Ungater;
  readonly events: EventRecorder;
  readonly metrics: Pick<PlacementMetrics, "decision" | "gateReleased">;
  readonly decisions: Pick<DecisionRing, "record">;
  readonly maxGateAgeMs: number;
}

const CHECK_MS = 1_000;
/** Interval of lists of labelled pods (ms): lists a pod long before it is overdue. */
const LIST_EVERY_MS = 5_000;
/** Interval of lists of all pending pods (ms, before jitter), to find those whose label was removed. */
const SWEEP_EVERY_MS = 5 * 60_000;
const PARALLEL = 4;
const BACKOFF = { baseMs: 1_000, capMs: 30_000 } as const;

type OverduePod = PodRef & { readonly createdMs: number };

/** Sends no request to the API server while a replica leads. */
export function openGateFailOpen(deps: GateFailOpenDeps): Controller {
  const leader = new LeaderWatch(deps, GATE_ABSENCE_LIMITS);
  const gated = new Map<string, OverduePod>();
  const controller = openController({
    ...deps,
    name: "gate-fail-open",
    watches: [{ run: (signal) => watch({ deps, leader, gated, enqueue: (key) => controller.enqueue(key) }, signal) }],
    reconcile: (key, signal) => reconcile({ deps, leader, gated }, key, signal),
    parallel: PARALLEL,
    queue: { flowOf: (key) => splitKey(key).namespace ?? "", backoff: BACKOFF },
  });
  return controller;
}

interface FailOpenParts {
  readonly deps: GateFailOpenDeps;
  readonly leader: LeaderWatch;
  /** By `namespace/name`; empty while a replica leads. */
  readonly gated: Map<string, OverduePod>;
}

/** Lists gated pods while no replica leads. Never rejects. */
async function watch(
  parts: FailOpenParts & { readonly enqueue: (key: string) => void },
  signal: AbortSignal,
): Promise<void> {
  const { deps: { clock, log, view }, leader, gated } = parts;
  let [listAtMs, sweepAtMs] = [0, 0];
  let isOpen = false;
  while (!signal.aborted) {
    const state = await leader.check(signal);
    if (state === "absent" && !isOpen) {
      const silentMs = Math.round(leader.silentForMs);
      log.warn("no replica leads, pods lose their gate once --max-gate-age has passed", {
        silentMs,
        reason: view().refusal,
      });
    }
    if (state === "present" && isOpen) log.info("a replica leads, gates are its matter again");
    if (state === "present") {
      gated.clear();
      [listAtMs, sweepAtMs] = [0, 0];
    }
    if (state !== "doubtful") isOpen = state === "absent";
    const nowMs = clock.monotonicMs();
    if (state === "absent" && nowMs >= listAtMs) {
      const isSweep = nowMs >= sweepAtMs;
      listAtMs = nowMs + LIST_EVERY_MS;
      if (isSweep) sweepAtMs = nowMs + jitter(SWEEP_EVERY_MS);
      await list(parts, { isSweep, signal });
    }
    await clock.sleep(CHECK_MS, signal);
  }
}

async function list(
  { deps: { api, clock, log }, gated, enqueue }: Parameters<typeof watch>[0],
  { isSweep, signal }: { readonly isSweep: boolean; readonly signal: AbortSignal },
): Promise<void> {
  try {
    for await (const pod of listGatedPods(api, isSweep ? ["labelled", "pending"] : ["labelled"], signal)) {
      const key = keyOf({ metadata: pod });
      if (pod.isDeleting || gated.get(key)?.uid === pod.uid) continue;
      const { namespace, name, uid, createdMs = clock.nowMs() } = pod;
      gated.set(key, { namespace, name, uid, createdMs });
      enqueue(key);
    }
  } catch (error) {
    if (!signal.aborted) log.warn("gated pods cannot be listed", { reason: errorText(error) });
  }
}

/** Removes an overdue pod's gate. Throws to retry. */
async function reconcile(
  { deps, leader, gated }: FailOpenParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const pod = gated.get(key);
  if (pod === undefined) return DONE;
  const ageMs = serverNowMs(deps.clock, deps.api) - pod.createdMs;
  const leftMs = overdueInMs({ ageMs, maxGateAgeMs: deps.maxGateAgeMs });
  if (leftMs > 0 || leader.state !== "absent") return requeueAfter(Math.max(CHECK_MS, leftMs));
  const outcome = await deps.ungater.ungate(pod, { signal, shouldContinue: () => leader.state === "absent" });
  if (outcome.kind === "stopped") return requeueAfter(CHECK_MS);
  if (outcome.kind === "failed") {
    throw new Error(`Cannot release pod "${key}" without a leader: ${outcome.why}`);
  }
  if (gated.get(key)?.uid === pod.uid) gated.delete(key);
  if (outcome.kind === "ungated") report(deps, pod, { ageMs, silentForMs: leader.silentForMs });
  return DONE;
}

function report(
  { events, metrics, decisions, clock, log, lease, view }: GateFailOpenDeps,
  pod: OverduePod,
  { ageMs, silentForMs }: { readonly ageMs: number; readonly silentForMs: number },
): void {
  const name = { namespace: pod.namespace, pod: pod.name };
  const { refusal } = view();
  const leaseKey = `${lease.namespace}/${lease.name}`;
  events.record({
    object: podObject(pod),
    type: "Warning",
    reason: EventReason.gateLifted,
    // Shares the slot of "gate is stuck" and placement: a pod has at most three events.
    slot: 3,
    message: renderLeaderlessUngating({ gate: SCHEDULING_GATE, lease: leaseKey, ageMs, silentForMs, refusal }),
  });
  metrics.decision("reduced");
  metrics.gateReleased(ageMs);
  decisions.record({
    atMs: clock.nowMs(),
    ...name,
    kind: "reduced",
    reason: "NoLeader",
    architectures: [],
    images: [],
    gatedMs: ageMs,
  });
  log.warn("pod released without a leader", { ...name, gatedMs: Math.round(ageMs), reason: refusal });
}
