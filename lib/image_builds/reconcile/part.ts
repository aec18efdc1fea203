// Parts of a decision, put together at its end.
import type { BuildEvent, Effect } from "../effects.ts";
import type { RegistryQuestion } from "../registry.ts";

/** What one step requests. */
export interface Part {
  readonly questions: readonly RegistryQuestion[];
  readonly effects: readonly Effect[];
  readonly events: readonly BuildEvent[];
  /** The earliest counts. */
  readonly wakeAtMs?: number | undefined;
}

/** A part of what is given. */
export function part(given: Partial<Part> = {}): Part {
  return { questions: [], effects: [], events: [], ...given };
}

/** All of them in their order. */
export function joinParts(parts: readonly Part[]): Part {
  const times = parts.flatMap(({ wakeAtMs }) => wakeAtMs === undefined ? [] : [wakeAtMs]);
  return {
    questions: parts.flatMap(({ questions }) => questions),
    effects: parts.flatMap(({ effects }) => effects),
    events: parts.flatMap(({ events }) => events),
    wakeAtMs: times.length === 0 ? undefined : Math.min(...times),
  };
}

/** When to ask a registry again that gave no answer, and has not said when (ms from now). */
export const ASK_AGAIN_MS = 30_000;
