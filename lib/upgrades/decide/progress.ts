// How far a plan has come: every step of its upgrade, even those that have not begun, and what is waited for.
import { findCondition } from "../../vocabulary/condition.ts";
import { IN_PROGRESS } from "./steps/run.ts";
import { stepOf, upgraderFor } from "./steps/upgraders.ts";
import type { Phase, StepCondition, UpgradeConfig, UpgradeSpec } from "./types/plan.ts";
import type { Step } from "./types/steps.ts";
import { parseTime } from "../../vocabulary/time.ts";

/** A step. `message` is what it waits for; empty when it waits for nothing. */
export interface StepProgress extends Pick<Step, "id" | "stage" | "title"> {
  /** `skipped`: the plan disables what the step is for. */
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
  const all = entry === undefined ? [] : upgraderFor(entry.profile, spec.type).steps;
  const steps = [...new Map(all.map((step) => [step.id, step])).values()].map((step) =>
    progressOfStep(step, { spec, condition: findCondition(entry?.conditions ?? [], step.id) })
  );
  return {
    version,
    architecture,
    phase,
    steps,
    startMs: parseTime(startTime),
    completeMs: parseTime(completeTime),
  };
}

function progressOfStep(
  { id, stage, title }: Step,
  { spec, condition }: { readonly spec: UpgradeSpec; readonly condition: StepCondition | undefined },
): StepProgress {
  const [startMs, completeMs] = [condition?.startTime, condition?.completeTime].map(parseTime);
  const state = condition === undefined ? { state: "open", message: "" } as const : stepStateOf(condition, spec);
  return { id, stage, title, ...state, startMs, completeMs };
}

export function stepStateOf(
  { type, status, message }: Pick<StepCondition, "type" | "status" | "message">,
  spec: UpgradeSpec,
): { readonly state: "done" | "skipped" | "waiting"; readonly message: string } {
  if (status === "True") return { state: stepOf(type)?.isSkipped?.(spec) === true ? "skipped" : "done", message: "" };
  const waits = `${type}${IN_PROGRESS}`;
  return { state: "waiting", message: message.startsWith(waits) ? message.slice(waits.length) : message };
}
