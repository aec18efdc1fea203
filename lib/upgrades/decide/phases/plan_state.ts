// What the phases share. A phase is a generator: it yields what to read, do or write, and the controller resumes it.
import { historyEntryOf, withHistoryEntry } from "../status_changes.ts";
import { requestEffects } from "../steps/run.ts";
import type { Effect } from "../types/effects.ts";
import type { UpgradeFacts } from "../types/observed.ts";
import type { HistoryEntry, UpgradeStatus } from "../types/plan.ts";
import type { Coroutine, ReconcileEnd } from "../types/steps.ts";
import { parseTime } from "../../../vocabulary/time.ts";

export interface PlanState {
  readonly facts: UpgradeFacts;
  readonly status: UpgradeStatus;
  readonly entry: HistoryEntry;
  readonly nowMs: number;
}

/** How soon a running upgrade is reconciled again (ms). */
export const REQUEUE_MS = 60_000;

export function finished(requeueAfterMs?: number): ReconcileEnd {
  return { kind: "finished", requeueAfterMs };
}

export function failed(message: string, requeueAfterMs?: number): ReconcileEnd {
  return { kind: "failed", message, requeueAfterMs };
}

export function* apply(effects: readonly Effect[]): Coroutine<string | undefined> {
  const { failure } = yield* requestEffects(effects);
  return failure;
}

export function* save(state: PlanState): Coroutine<void> {
  yield { kind: "save", status: state.status };
}

export function withEntry(state: PlanState, change: Partial<HistoryEntry>): PlanState {
  const entry = { ...state.entry, ...change };
  return { ...state, entry, status: withHistoryEntry(state.status, entry) };
}

export function withStatus(state: PlanState, status: UpgradeStatus): PlanState {
  return { ...state, status, entry: historyEntryOf(status, state.entry) ?? state.entry };
}

export interface Schedule {
  readonly isReady: boolean;
  /** The upgrade did not begin within its window. */
  readonly isBreached: boolean;
  /** Time until it is due (ms); 0 when it is ready, or when `upgradeAt` cannot be parsed. */
  readonly untilMs: number;
}

export function decideSchedule(
  upgradeAt: string,
  { nowMs, windowMs }: { readonly nowMs: number; readonly windowMs: number },
): Schedule {
  const startMs = parseTime(upgradeAt);
  if (startMs === undefined) return { isReady: false, isBreached: false, untilMs: 0 };
  if (nowMs <= startMs) return { isReady: false, isBreached: false, untilMs: startMs - nowMs };
  return { isReady: true, isBreached: windowMs > 0 && nowMs >= startMs + windowMs, untilMs: 0 };
}
