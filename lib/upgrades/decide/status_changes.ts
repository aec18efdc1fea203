// Changes of the status, each giving a new one.
import { renderTime } from "../../cluster/time.ts";
import type { DesiredRelease, History, PlanCondition, StepCondition, UpgradeStatus } from "./types/plan.ts";

export type ConditionChange = Pick<
  StepCondition,
  "type" | "status" | "reason" | "message" | "startTime" | "completeTime"
>;

export function historyOf(
  { history }: UpgradeStatus,
  { version, architecture }: Pick<DesiredRelease, "version" | "architecture">,
): History | undefined {
  return history.find((entry) => entry.version === version && entry.architecture === architecture);
}

export function withHistory(status: UpgradeStatus, entry: History): UpgradeStatus {
  const { history } = status;
  const known = historyOf(status, entry);
  return {
    ...status,
    history: known === undefined ? [entry, ...history] : history.map((other) => other === known ? entry : other),
  };
}

export function conditionOf({ conditions }: History, type: string): StepCondition | undefined {
  return conditions.find((condition) => condition.type === type);
}

export function isStepDone(history: History, type: string): boolean {
  return conditionOf(history, type)?.status === "True";
}

/** The first condition that is False: conditions have the latest step first. */
export function openStep({ conditions }: History): StepCondition | undefined {
  return conditions.find(({ status }) => status === "False");
}

/** Replaces the condition of the same type, or adds a new one at the front; the time of the last change follows its status. */
export function withCondition(history: History, change: ConditionChange, nowMs: number): History {
  const { conditions } = history;
  const known = conditionOf(history, change.type);
  const now = renderTime(nowMs);
  const isSame = known !== undefined && known.status === change.status;
  const condition: StepCondition = {
    ...change,
    lastProbeTime: now,
    lastTransitionTime: isSame ? known.lastTransitionTime ?? now : now,
  };
  return {
    ...history,
    conditions: known === undefined
      ? [condition, ...conditions]
      : conditions.map((other) => other === known ? condition : other),
  };
}

export type PlanConditionChange = Pick<PlanCondition, "type" | "reason" | "message"> & { readonly isTrue: boolean };

/** Replaces the condition of the same type, or adds it. The same condition again changes nothing. */
export function withPlanCondition(
  status: UpgradeStatus,
  { isTrue, ...change }: PlanConditionChange,
  { generation, nowMs }: { readonly generation: number; readonly nowMs: number },
): UpgradeStatus {
  const known = status.conditions.find(({ type }) => type === change.type);
  const value: PlanCondition["status"] = isTrue ? "True" : "False";
  const condition: PlanCondition = {
    ...change,
    status: value,
    lastTransitionTime: known?.status === value ? known.lastTransitionTime : renderTime(nowMs),
    observedGeneration: generation,
  };
  return {
    ...status,
    conditions: known === undefined
      ? [...status.conditions, condition]
      : status.conditions.map((other) => other === known ? condition : other),
  };
}

export function withoutPlanCondition(status: UpgradeStatus, type: PlanCondition["type"]): UpgradeStatus {
  if (!status.conditions.some((condition) => condition.type === type)) return status;
  return { ...status, conditions: status.conditions.filter((condition) => condition.type !== type) };
}
