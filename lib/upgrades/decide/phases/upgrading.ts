// Phases Upgrading and Upgraded: runs the steps, unless the upgrade was postponed, did not begin in time, or another
// client has taken over.
import { isStepDone } from "../status_changes.ts";
import { lostRequest } from "../release/target.ts";
import {
  apply,
  decideSchedule,
  failed,
  finished,
  type PlanState,
  REQUEUE_MS,
  save,
  type Schedule,
  withEntry,
  withStatus,
} from "./plan_state.ts";
import { COMMENCE_STEP, hasCommenced } from "../steps/results.ts";
import { requestReadings, runSteps } from "../steps/run.ts";
import { upgraderFor } from "../steps/upgraders.ts";
import { MINUTE_MS, renderTime } from "../../../vocabulary/time.ts";
import type { Coroutine, ReconcileEnd, Upgrader } from "../types/steps.ts";
import { giveUp } from "./give_up.ts";
import type { Effect } from "../types/effects.ts";

export function* reconcileUpgrading(state: PlanState): Coroutine<ReconcileEnd> {
  const { facts, entry, nowMs } = state;
  const upgrader = upgraderFor(entry.profile, facts.plan.spec.type);
  const { isReady, isBreached } = scheduleOf(state, upgrader);
  if (isBreached) return yield* giveUp(state);
  if (!isReady) {
    yield* save(withEntry(state, { phase: "Pending", startTime: undefined }));
    return finished(REQUEUE_MS);
  }
  const lost = isStepDone(entry, COMMENCE_STEP)
    ? lostRequest(facts.plan.spec.desired, facts.clusterVersion)
    : undefined;
  if (lost !== undefined) return yield* giveUp(state, lost);
  const { status, ...end } = yield* runSteps(upgrader.steps, state);
  const ended = withStatus(state, status);
  if (end.kind === "complete") {
    yield* save(withEntry(ended, { phase: "Upgraded", completeTime: entry.completeTime ?? renderTime(nowMs) }));
    return finished(REQUEUE_MS);
  }
  yield* save(ended);
  return { ...end, requeueAfterMs: end.requeueAfterMs ?? REQUEUE_MS };
}

/** The window begins at `upgradeAt`, so that after an outage of Archway no upgrade begins in the middle of the day. */
function scheduleOf({ facts, entry, nowMs }: PlanState, { hasWindow }: Upgrader): Schedule {
  const { plan, config, clusterVersion } = facts;
  if (hasCommenced({ plan, clusterVersion, entry })) return { isReady: true, isBreached: false, untilMs: 0 };
  const windowMs = hasWindow ? config.upgradeWindow.timeoutMinutes * MINUTE_MS : 0;
  return decideSchedule(plan.spec.upgradeAt, { nowMs, windowMs });
}

const CLEAR_NOTIFICATION_FAILED: Effect = { kind: "clearMetric", metric: "upgrade_notification_failed" };

export function* reconcileUpgraded({ entry }: PlanState): Coroutine<ReconcileEnd> {
  const { alertsDuring } = yield* requestReadings(["alertsDuring"]);
  if (alertsDuring?.kind !== "observed") {
    yield* apply([CLEAR_NOTIFICATION_FAILED]);
    return failed(`Cannot read the alerts during the upgrade: ${alertsDuring?.why ?? "no answer"}`);
  }
  const { version, precedingVersion } = entry;
  const failure = yield* apply([{
    kind: "setMetric",
    metric: "upgradeoperator_upgrade_result",
    labels: {
      preceding_version: precedingVersion,
      stream: streamOf(precedingVersion, version),
      version,
      alerts: alertsDuring.value.join(","),
    },
    value: alertsDuring.value.length === 0 ? 1 : 0,
  }, CLEAR_NOTIFICATION_FAILED]);
  return failure === undefined ? finished() : failed(failure);
}

/** `y` when the minor version changed, `z` when it did not; the major one is not compared. */
function streamOf(from: string, to: string): "y" | "z" | "unknown" {
  const [before, after] = [from, to].map((version) => /^\d+\.(\d+)\.\d+/.exec(version)?.[1]);
  if (before === undefined || after === undefined) return "unknown";
  return before === after ? "z" : "y";
}
