// Ends an upgrade that did not begin, or that another has taken over. What was prepared for it is removed first.
import { notify, withNotified } from "../notifications/notify.ts";
import { conditionOf, withCondition } from "../status_changes.ts";
import { carryOut, read } from "../steps/run.ts";
import { closeWindows } from "../windows.ts";
import type { Effect } from "../types/effects.ts";
import type { Observed } from "../types/observed.ts";
import type { History } from "../types/plan.ts";
import type { Part, ReconcileEnd } from "../types/steps.ts";
import { apply, failed, PACE_MS, save, settled, type Turn, withEntry } from "./turn.ts";
import { renderTime } from "../../../cluster/time.ts";

const FAILED_CONDITION = "FailedUpgrade";

export type GivenUp =
  /** It did not begin within its window. */
  | { readonly kind: "late" }
  /** Another client has changed the requested update; `message` says to what. */
  | { readonly kind: "lost"; readonly message: string };

export function* giveUp(turn: Turn, why: GivenUp): Part<ReconcileEnd> {
  const cleared = yield* clearUp([turn.entry]);
  if (cleared.kind === "failed") return failed(cleared.message, PACE_MS);
  if (cleared.kind === "pending") return settled(PACE_MS);
  const { done, failure } = yield* carryOut([
    ...notify("StateFailed", { plan: turn.base.plan, history: turn.entry }, {
      findings: why.kind === "lost" ? why.message : "",
    }),
    ...(why.kind === "lost" ? [] : [BREACHED]),
    { kind: "clearMetrics", group: "failure" },
  ]);
  if (failure !== undefined) return failed(failure, PACE_MS);
  const entry = asFailed(withNotified(turn.entry, done, turn.nowMs), {
    message: why.kind === "lost" ? `Another has taken over: ${why.message}.` : lateMessage(turn.entry),
    nowMs: turn.nowMs,
  });
  yield* save(withEntry(turn, entry));
  return settled();
}

const BREACHED: Effect = {
  kind: "setMetric",
  metric: "upgradeoperator_upgrade_window_breached",
  labels: {},
  value: 1,
};

/** With what the step at hand says that it waited for. */
function lateMessage({ conditions }: History): string {
  const open = conditions.find(({ status }) => status === "False");
  const message = "The upgrade did not begin within upgradeWindow.timeOut after spec.upgradeAt";
  return open === undefined ? `${message}.` : `${message}: ${open.message}`;
}

export function asFailed(
  entry: History,
  { message, nowMs }: { readonly message: string; readonly nowMs: number },
): History {
  const now = renderTime(nowMs);
  const condition = { type: FAILED_CONDITION, status: "True", reason: `${FAILED_CONDITION} done`, message } as const;
  return { ...withCondition(entry, { ...condition, startTime: now, completeTime: now }, nowMs), phase: "Failed" };
}

export type Cleared =
  | { readonly kind: "clear" }
  /** Machines are still going. */
  | { readonly kind: "pending" }
  | { readonly kind: "failed"; readonly message: string };

/** Removes what was prepared for upgrades that do not go on: silences, temporary workers. Only what can exist is looked up. */
export function* clearUp(entries: readonly History[]): Part<Cleared> {
  const has = (type: string): boolean => entries.some((entry) => conditionOf(entry, type) !== undefined);
  const readings = [
    ...(has("ControlPlaneMaintenanceWindowCreated") ? ["silences"] as const : []),
    ...(has("ComputeCapacityReserved") ? ["capacityLeft"] as const : []),
    ...(has("SecondaryArchitectureProven") ? ["smoke"] as const : []),
  ];
  const answer = yield* read(readings);
  const unread = readings.map((name) => answer[name]).find((reading) => reading?.kind !== "observed");
  if (unread !== undefined) return { kind: "failed", message: `Cannot clear up: ${unread.why}` };
  const failure = yield* apply(removals(answer));
  if (failure !== undefined) return { kind: "failed", message: failure };
  const isPending = answer.capacityLeft?.kind === "observed" && answer.capacityLeft.value.kind !== "none";
  return isPending ? { kind: "pending" } : { kind: "clear" };
}

export function removals({ silences, capacityLeft, smoke }: Observed["read"]): readonly Effect[] {
  const release: Effect = { kind: "releaseCapacity", drain: "none" };
  const remove: Effect = { kind: "deleteSmokeMachine" };
  return [
    ...(silences?.kind === "observed" ? closeWindows("all", silences.value) : []),
    ...(capacityLeft?.kind === "observed" && capacityLeft.value.kind !== "none" ? [release] : []),
    ...(smoke?.kind === "observed" && smoke.value.kind !== "absent" ? [remove] : []),
  ];
}
