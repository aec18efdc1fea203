// Parts of a decision, and how they are joined.
import type { BuildEffect, BuildEvent } from "../effects.ts";
import type { BuildFacts } from "../facts.ts";
import type { RegistryQuestion } from "../observed.ts";
import type { MachineOSBuild } from "../parse/machine_os_config.ts";
import type { BuildPlan } from "../types.ts";

/** What a decision is about; `build`: the plan's, where there is one. */
export interface BuildSubject<Build = MachineOSBuild> {
  readonly facts: BuildFacts;
  readonly plan: BuildPlan;
  readonly build: Build;
}

export interface DecisionPart {
  /** To be answered first, before the decision is made again. A ReconcileDecision with questions has no effects. */
  readonly questions: readonly RegistryQuestion[];
  readonly effects: readonly BuildEffect[];
  readonly events: readonly BuildEvent[];
  /** When to decide again without a change; absent: only after a change. */
  readonly wakeAtMs?: number | undefined;
}

export function decisionPart(given: Partial<DecisionPart> = {}): DecisionPart {
  return { questions: [], effects: [], events: [], ...given };
}

export function joinParts(parts: readonly DecisionPart[]): DecisionPart {
  const times = parts.flatMap(({ wakeAtMs }) => wakeAtMs === undefined ? [] : [wakeAtMs]);
  return {
    questions: parts.flatMap(({ questions }) => questions),
    effects: parts.flatMap(({ effects }) => effects),
    events: parts.flatMap(({ events }) => events),
    wakeAtMs: times.length === 0 ? undefined : Math.min(...times),
  };
}

/** Wait (ms) before unwatched objects are read again, or a silent registry that named no time is asked again. */
export const ASK_AGAIN_MS = 30_000;
