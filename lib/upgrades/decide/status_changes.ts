// Changes of a plan's status; each returns a new status.
import { isTrue, replaceCondition, withTime } from "../../vocabulary/condition.ts";
import { renderTime } from "../../vocabulary/time.ts";
import type {
  DesiredRelease,
  HistoryEntry,
  NewPlanCondition,
  NewStepCondition,
  StepCondition,
  UpgradeStatus,
} from "./types/plan.ts";

export function historyEntryOf(
  { history }: UpgradeStatus,
  { version, architecture }: Pick<DesiredRelease, "version" | "architecture">,
): HistoryEntry | undefined {
  return history.find((entry) => entry.version === version && entry.architecture === architecture);
}

export function withHistoryEntry(status: UpgradeStatus, entry: HistoryEntry): UpgradeStatus {
  const { history } = status;
  const known = historyEntryOf(status, entry);
  return {
    ...status,
    history: known === undefined ? [entry, ...history] : history.map((other) => other === known ? entry : other),
  };
}

export function isStepDone({ conditions }: HistoryEntry, type: string): boolean {
  return isTrue(conditions, type);
}

/** The first condition that is False: conditions have the latest step first. */
export function unfinishedStep({ conditions }: HistoryEntry): StepCondition | undefined {
  return conditions.find(({ status }) => status === "False");
}

export function withStepCondition(entry: HistoryEntry, condition: NewStepCondition, nowMs: number): HistoryEntry {
  const { conditions } = entry;
  const timed = { ...withTime(condition, conditions, nowMs), lastProbeTime: renderTime(nowMs) };
  return { ...entry, conditions: replaceCondition(conditions, timed, "front") };
}

export function withPlanCondition(
  status: UpgradeStatus,
  condition: NewPlanCondition,
  { generation, nowMs }: { readonly generation: number; readonly nowMs: number },
): UpgradeStatus {
  const { conditions } = status;
  const timed = withTime({ ...condition, observedGeneration: generation }, conditions, nowMs);
  return { ...status, conditions: replaceCondition(conditions, timed) };
}
