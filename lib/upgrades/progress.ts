// How far a plan has come: every step of its upgrade, those that have not begun among them, and what is waited for.
import { upgraderFor } from "./steps/upgraders.ts";
import type { Phase, StepCondition, UpgradeConfig } from "./types/plan.ts";

/** A step. `message` is what it waits for; empty when it waits for nothing. */
export interface StepProgress {
  readonly id: string;
  readonly state: "done" | "waiting" | "open";
  readonly message: string;
  readonly startMs: number | undefined;
  readonly completeMs: number | undefined;
}

/** The newest upgrade of a plan. */
export interface PlanProgress {
  readonly version: string;
  readonly architecture: string;
  readonly phase: Phase;
  readonly startMs: number | undefined;
  readonly completeMs: number | undefined;
  /** In their order; none before the upgrade has an entry in the history. */
  readonly steps: readonly StepProgress[];
}

/** Reads it from the plan alone. */
export function progressOf({ spec, status: { history: [entry] } }: UpgradeConfig): PlanProgress {
  const { version, architecture } = entry ?? spec.desired;
  const { phase = "New", startMs, completeMs } = entry ?? {};
  const ids = entry === undefined ? [] : upgraderFor(entry.profile, spec.type).steps.map(({ id }) => id);
  const steps = [...new Set(ids)].map((id) => stepOf(id, entry?.conditions.find(({ type }) => type === id)));
  return { version, architecture, phase, startMs, completeMs, steps };
}

function stepOf(id: string, condition: StepCondition | undefined): StepProgress {
  const { startMs, completeMs } = condition ?? {};
  if (condition === undefined) return { id, state: "open", message: "", startMs, completeMs };
  const isDone = condition.status === "True";
  return { id, state: isDone ? "done" : "waiting", message: isDone ? "" : condition.message, startMs, completeMs };
}
