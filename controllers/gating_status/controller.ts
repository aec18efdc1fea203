// Reports when this replica stops gating pods: in the log and, without a leader, in a condition of the cluster config.
import type { Condition } from "../../lib/vocabulary/condition.ts";
import { type EarlierConditions, renderLeaderlessConditions } from "../../lib/operator/decide/conditions.ts";
import { type GatingHealth, type GatingStop, LEADER_SILENCE_MS } from "../../lib/operator/decide/gating_health.ts";
import { type ConfigConditionsDeps, writeConfigConditions } from "../config_conditions.ts";
import { type Controller, openController, requeueAfter } from "../controller.ts";

interface GatingStatusDeps extends ConfigConditionsDeps {
  readonly gatingHealth: () => GatingHealth;
}

const CHECK_MS = 1_000;
/** A suspended process has an outdated Lease until the next read, so it first waits this long (ms). */
const SUSPENSION_GRACE_MS = 5_000;
/** Reasons to write the condition here: without a leader, the operator, which otherwise writes it, does not run. */
const LEADERLESS: readonly (GatingStop | "gating")[] = ["NoLeader", "LeaderSilent"];

export function openGatingStatus(deps: GatingStatusDeps): Controller {
  const { clock, log } = deps;
  let current: GatingStop | "gating" | undefined;
  let sinceMs = 0;
  let isReported = false;
  return openController({
    ...deps,
    name: "gating-status",
    watches: [],
    firstKey: "gating",
    parallel: 1,
    reconcile: async (_key, signal) => {
      const health = deps.gatingHealth();
      const now = health.kind === "gating" ? "gating" : health.reason;
      if (now !== current) {
        if (now === "gating") log.info("gating pods");
        else log.warn("not gating pods", { reason: now });
        [current, sinceMs, isReported] = [now, clock.monotonicMs(), false];
      }
      // Startup briefly has no leader either, which is not reported.
      const isLasting = clock.monotonicMs() - sinceMs >= graceMs(now);
      if (health.kind === "stopped" && LEADERLESS.includes(now) && isLasting && !isReported) {
        const render = (earlier: EarlierConditions): readonly Condition[] =>
          renderLeaderlessConditions(health.reason, earlier);
        isReported = await writeConfigConditions({ ...deps, signal }, health.reason, render) === "there";
      }
      return requeueAfter(CHECK_MS);
    },
  });
}

/** How long a state must last to be written (ms). */
function graceMs(state: GatingStop | "gating"): number {
  return state === "LeaderSilent" ? SUSPENSION_GRACE_MS : LEADER_SILENCE_MS;
}
