// How far a plan has come: every step of its upgrade, those that have not begun among them, and what is waited for.
import { entryOf } from "../../json.ts";
import { IN_PROGRESS } from "./steps/run.ts";
import { upgraderFor } from "./steps/upgraders.ts";
import type { Phase, StepCondition, UpgradeConfig, UpgradeSpec } from "./types/plan.ts";
import { parseTime } from "../../cluster/time.ts";

/** A step. `message` is what it waits for; empty when it waits for nothing. */
export interface StepProgress {
  readonly id: string;
  /** `skipped`: the plan does without what it is for. */
  readonly state: "done" | "skipped" | "waiting" | "open";
  readonly message: string;
  readonly startMs: number | undefined;
  readonly completeMs: number | undefined;
}

export interface PlanProgress {
  readonly version: string;
  readonly architecture: string;
  readonly phase: Phase;
  readonly startMs: number | undefined;
  readonly completeMs: number | undefined;
  readonly steps: readonly StepProgress[];
}

export function progressOf({ spec, status: { history: [entry] } }: UpgradeConfig): PlanProgress {
  const { version, architecture } = entry ?? spec.desired;
  const { phase = "New", startTime, completeTime } = entry ?? {};
  const ids = entry === undefined ? [] : upgraderFor(entry.profile, spec.type).steps.map(({ id }) => id);
  const steps = [...new Set(ids)].map((id) =>
    stepOf(id, { spec, condition: entry?.conditions.find(({ type }) => type === id) })
  );
  return {
    ...{ version, architecture, phase, steps },
    startMs: parseTime(startTime),
    completeMs: parseTime(completeTime),
  };
}

function stepOf(
  id: string,
  { spec, condition }: { readonly spec: UpgradeSpec; readonly condition: StepCondition | undefined },
): StepProgress {
  const [startMs, completeMs] = [condition?.startTime, condition?.completeTime].map(parseTime);
  if (condition === undefined) return { id, state: "open", message: "", startMs, completeMs };
  return { id, ...stateOf(condition, spec), startMs, completeMs };
}

const withoutCapacity = ({ capacity }: UpgradeSpec): boolean => !capacity.enabled;
const SKIPPED: Readonly<Record<string, (spec: UpgradeSpec) => boolean>> = {
  ComputeCapacityReserved: withoutCapacity,
  ComputeCapacityRemoved: withoutCapacity,
  SecondaryArchitectureProven: ({ smoke }) => smoke === undefined,
};

export function stateOf(
  { type, status, message }: Pick<StepCondition, "type" | "status" | "message">,
  spec: UpgradeSpec,
): { readonly state: "done" | "skipped" | "waiting"; readonly message: string } {
  if (status === "True") return { state: entryOf(SKIPPED, type)?.(spec) === true ? "skipped" : "done", message: "" };
  const waits = `${type}${IN_PROGRESS}`;
  return { state: "waiting", message: message.startsWith(waits) ? message.slice(waits.length) : message };
}
