// Ends an upgrade that did not begin, or that another client has taken over. What was prepared for it is removed first.
import { notificationEffects, withNotified } from "../notifications/notify.ts";
import { unfinishedStep, withStepCondition } from "../status_changes.ts";
import { requestEffects, requestReadings } from "../steps/run.ts";
import { endSilenceEffects } from "../silences.ts";
import type { Effect } from "../types/effects.ts";
import type { Observed } from "../types/observed.ts";
import type { HistoryEntry } from "../types/plan.ts";
import type { Coroutine, ReconcileEnd } from "../types/steps.ts";
import { apply, failed, finished, type PlanState, REQUEUE_MS, save, withEntry } from "./plan_state.ts";
import { findCondition } from "../../../vocabulary/condition.ts";
import { renderTime } from "../../../vocabulary/time.ts";

const FAILED_CONDITION = "FailedUpgrade";

/** `lost`: how another client has changed the request. Without it, the upgrade did not begin in time. */
export function* giveUp(state: PlanState, lost?: string): Coroutine<ReconcileEnd> {
  const { facts: { plan }, entry, nowMs } = state;
  const open = yield* cleanUp([entry]);
  if (open !== undefined) return open;
  const { done, failure } = yield* requestEffects([
    ...notificationEffects("StateFailed", { plan, entry }, { findings: lost }),
    ...(lost === undefined ? [BREACHED] : []),
    { kind: "clearMetrics", group: "failure" },
  ]);
  if (failure !== undefined) return failed(failure, REQUEUE_MS);
  const message = lost === undefined ? lateMessage(entry) : `Another has taken over: ${lost}.`;
  yield* save(withEntry(state, asFailed(withNotified(entry, done, nowMs), { message, nowMs })));
  return finished();
}

const BREACHED: Effect = {
  kind: "setMetric",
  metric: "upgradeoperator_upgrade_window_breached",
  labels: {},
  value: 1,
};

function lateMessage(entry: HistoryEntry): string {
  const open = unfinishedStep(entry);
  const message = "The upgrade did not begin within upgradeWindow.timeOut after spec.upgradeAt";
  return open === undefined ? `${message}.` : `${message}: ${open.message}`;
}

export function asFailed(
  entry: HistoryEntry,
  { message, nowMs }: { readonly message: string; readonly nowMs: number },
): HistoryEntry {
  const now = renderTime(nowMs);
  const condition = { type: FAILED_CONDITION, status: "True", reason: `${FAILED_CONDITION} done`, message } as const;
  return { ...withStepCondition(entry, { ...condition, startTime: now, completeTime: now }, nowMs), phase: "Failed" };
}

/** Removes what was prepared for upgrades that do not go on. Returns how to end the reconcile until all is gone. */
export function* cleanUp(entries: readonly HistoryEntry[]): Coroutine<ReconcileEnd | undefined> {
  const has = (type: string): boolean => entries.some((entry) => findCondition(entry.conditions, type) !== undefined);
  const readings = [
    ...(has("ControlPlaneMaintenanceWindowCreated") ? ["silences"] as const : []),
    ...(has("ComputeCapacityReserved") ? ["capacityLeft"] as const : []),
    ...(has("SecondaryArchitectureProven") ? ["smoke"] as const : []),
  ];
  const answer = yield* requestReadings(readings);
  const unread = readings.map((name) => answer[name]).find((reading) => reading?.kind !== "observed");
  if (unread !== undefined) return failed(`Cannot clear up: ${unread.why}`, REQUEUE_MS);
  const failure = yield* apply(removals(answer));
  if (failure !== undefined) return failed(failure, REQUEUE_MS);
  const isPending = answer.capacityLeft?.kind === "observed" && answer.capacityLeft.value.kind !== "none";
  return isPending ? finished(REQUEUE_MS) : undefined;
}

export function removals({ silences, capacityLeft, smoke }: Observed["read"]): readonly Effect[] {
  const release: Effect = { kind: "releaseCapacity", drain: "none" };
  const remove: Effect = { kind: "deleteSmokeMachine" };
  return [
    ...(silences?.kind === "observed" ? endSilenceEffects("all", silences.value) : []),
    ...(capacityLeft?.kind === "observed" && capacityLeft.value.kind !== "none" ? [release] : []),
    ...(smoke?.kind === "observed" && smoke.value.kind !== "absent" ? [remove] : []),
  ];
}
