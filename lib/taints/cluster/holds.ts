// Objects that must not be written for a moment: the last write has yet to show in the watch, or it failed.
import type { Clock } from "../../clock.ts";
import type { WriteOutcome } from "./write.ts";

/** Longest that a written object is waited for (ms): the watch shows it within milliseconds. */
const SHOWN_MS = 5_000;
const STALE_MS = 500;
const FAILED_MS = 10_000;

/** Objects whose refusal is kept: those that are named are a few. */
const MAX_REFUSALS = 1_000;

export interface Holds {
  /** `version`: the resourceVersion that is known now; an object that has changed since its write is free. */
  isHeld(key: string, version?: string): boolean;
  /** A write begins: the object is held until its outcome is known. */
  begin(key: string): void;
  /** Takes note of a write. `version`: the resourceVersion that it was based on. */
  note(key: string, outcome: WriteOutcome, version?: string): void;
  /** Why the last write of an object failed, by key. */
  readonly refusals: ReadonlyMap<string, string>;
  readonly size: number;
}

export function openHolds(clock: Clock): Holds {
  const held = new Map<string, { readonly untilMs: number; readonly version: string | undefined }>();
  const refusals = new Map<string, string>();
  // Most objects are never used again once they are written.
  const sweep = (): void => {
    for (const [key, { untilMs }] of held) {
      if (clock.monotonicMs() < untilMs) break;
      held.delete(key);
    }
    const [oldest] = refusals.keys();
    if (oldest !== undefined && refusals.size > MAX_REFUSALS) refusals.delete(oldest);
  };
  return {
    get size() {
      return held.size + refusals.size;
    },
    isHeld: (key, version) => {
      const hold = held.get(key);
      if (hold === undefined) return false;
      const hasChanged = hold.version !== undefined && version !== undefined && hold.version !== version;
      if (!hasChanged && clock.monotonicMs() < hold.untilMs) return true;
      held.delete(key);
      return false;
    },
    begin: (key) => void held.set(key, { untilMs: Infinity, version: undefined }),
    note: (key, outcome, version) => {
      const ms = outcome.kind === "stale" ? STALE_MS : outcome.kind === "failed" ? FAILED_MS : SHOWN_MS;
      held.delete(key);
      held.set(key, {
        untilMs: clock.monotonicMs() + ms,
        version: outcome.kind === "failed" ? undefined : version,
      });
      if (outcome.kind === "failed") refusals.set(key, outcome.why);
      else refusals.delete(key);
      sweep();
    },
    refusals,
  };
}
