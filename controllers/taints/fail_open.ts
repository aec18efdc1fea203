// Removes the taints when no replica leads, because new pods would find no node. Its client can do nothing else.
import type { KubeApi } from "../../lib/k8s/api.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import { type AbsenceLimits, LeaderWatch, type LeaderWatchDeps } from "../../lib/k8s/leader_watch.ts";
import { EventReason } from "../../lib/names.ts";
import { type LiftDeps, liftTaints } from "../../lib/taints/cluster/write.ts";
import { nameSome } from "../../lib/vocabulary/condition.ts";
import type { TaintMetrics } from "../../lib/taints/metrics.ts";
import { type Controller, openController, requeueAfter } from "../controller.ts";
import { CLUSTER_CONFIG, writeTaintCondition } from "./reports.ts";

export interface FailOpenDeps extends LeaderWatchDeps {
  readonly api: KubeApi;
  readonly lifter: LiftDeps;
  readonly events: EventRecorder;
  readonly metrics: TaintMetrics;
  readonly afterMs: number;
}

const CHECK_MS = 1_000;
/** Interval of rounds without a leader (ms): nodes may have joined with the taint. */
const ROUND_MS = 30_000;
const BACKOFF = { baseMs: 1_000, capMs: 30_000 } as const;

/** Longer than a Lease's duration (ms): any live replica would have taken the Lease meanwhile. */
const PROOF_MS = 20_000;

/** When taints are removed without a leader, by the setting `taintsFailOpenAfter`. */
export function taintAbsenceLimits(afterMs: number): AbsenceLimits {
  return { silenceMs: afterMs, proofMs: Math.min(PROOF_MS, afterMs) };
}

export function openTaintFailOpen(deps: FailOpenDeps): Controller {
  const leader = new LeaderWatch(deps, taintAbsenceLimits(deps.afterMs));
  return openController({
    ...deps,
    name: "taint-fail-open",
    watches: [],
    firstKey: "lease",
    parallel: 1,
    queue: { backoff: BACKOFF },
    reconcile: async (_key, signal) => {
      if (await leader.check(signal) !== "absent") return requeueAfter(CHECK_MS);
      await lift(deps, leader, signal);
      return requeueAfter(ROUND_MS);
    },
  });
}

async function lift(deps: FailOpenDeps, leader: LeaderWatch, signal: AbortSignal): Promise<void> {
  const { lifter, events, metrics, log, afterMs } = deps;
  const { lifted, left } = await liftTaints(lifter, { signal, shouldContinue: () => leader.state !== "present" });
  for (const _ of lifted) metrics.archway_arch_taint_writes_total.inc({ change: "failOpen" });
  if (lifted.length + left.length === 0) return;
  const seconds = Math.round(afterMs / 1_000);
  const message = `No replica has led for ${seconds} s, so the architecture taints are lifted: ${lifted.length} nodes` +
    `${left.length === 0 ? "" : `, not yet ${nameSome(left.map(({ node }) => node))}`}. ` +
    "They come back in phases once a replica leads.";
  log.warn("architecture taints lifted without a leader", { lifted: lifted.length, left: left.length });
  events.record({ object: CLUSTER_CONFIG, type: "Warning", reason: EventReason.taintsFailedOpen, message });
  await writeTaintCondition(deps, { isTrue: false, reason: "FailedOpen", message }, signal);
}
