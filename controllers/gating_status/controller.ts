// Reports when this replica stops gating pods and when it begins again: in the log, and, when the cause is a missing
// leader, in a condition of the cluster config: the operator, which writes conditions otherwise, does not run then.
import type { Clock } from "../../lib/clock.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import type { Logger } from "../../lib/log.ts";
import { renderLeaderlessConditions } from "../../lib/operand/conditions.ts";
import { type GatingHealth, type GatingStop, LEADER_SILENCE_MS } from "../../lib/operand/gating_health.ts";
import { writeConfigConditions } from "../config_conditions.ts";

/** What it needs. */
export interface GatingDeps {
  /** For the condition. */
  readonly api: KubeApi;
  /** Time. */
  readonly clock: Clock;
  /** Logs each change. */
  readonly log: Logger;
  /** What the webhook acts on. */
  readonly gatingHealth: () => GatingHealth;
}

const LOOK_MS = 1_000;
/** A suspended process has an old Lease until it reads it again: nothing is written for so long (ms). */
const SUSPENSION_GRACE_MS = 5_000;
/** Reasons that only a missing leader gives: then the operator does not run, which writes conditions otherwise. */
const LEADERLESS: readonly (GatingStop | "gating")[] = ["NoLeader", "LeaderSilent"];

/** Follows it until the signal aborts. Never rejects. */
export async function watchGating(deps: GatingDeps, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  let current: GatingStop | "gating" | undefined;
  let sinceMs = 0;
  let reported = false;
  while (!signal.aborted) {
    const health = deps.gatingHealth();
    const now = health.kind === "gating" ? "gating" : health.reason;
    if (now !== current) {
      if (now === "gating") log.info("gating pods");
      else log.warn("not gating pods", { reason: now });
      [current, sinceMs, reported] = [now, clock.monotonicMs(), false];
    }
    const lasting = clock.monotonicMs() - sinceMs >= (now === "LeaderSilent" ? SUSPENSION_GRACE_MS : LEADER_SILENCE_MS);
    // A start has no leader for a moment either, which is not reported.
    if (health.kind === "stopped" && LEADERLESS.includes(now) && lasting && !reported) {
      const { reason } = health;
      const outcome = await writeConfigConditions(deps, {
        reason,
        render: (earlier) => renderLeaderlessConditions(reason, earlier),
        signal,
      });
      reported = outcome === "there";
    }
    await clock.sleep(LOOK_MS, signal);
  }
}
