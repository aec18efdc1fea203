// Writes at a steady pace, so that a change of every node and pod of a cluster takes a small share of the API server.
import type { Clock } from "../clock.ts";

/**
 * Writes a second: 5 000 nodes take less than nine minutes. With the condition, the operator that looks at the config when
 * the condition has changed, the Lease and events these are at most 20 requests a second.
 */
const WRITES_A_SECOND = 10;

/** Hands out turns. */
export interface Pace {
  /** Resolves when the next write may be sent, or the signal aborts. */
  turn(signal: AbortSignal): Promise<void>;
}

/** A turn may come so much early after one that came late (ms): a busy machine wakes sleepers late. */
const CREDIT_MS = 300;

/** Makes a pace. Turns that were not taken are not made up for, but for {@link CREDIT_MS}. */
export function openPace(clock: Clock, writesASecond: number = WRITES_A_SECOND): Pace {
  const everyMs = 1_000 / writesASecond;
  let nextMs = 0;
  return {
    turn: async (signal) => {
      const nowMs = clock.monotonicMs();
      const mineMs = Math.max(nowMs - CREDIT_MS, nextMs);
      nextMs = mineMs + everyMs;
      if (mineMs > nowMs) await clock.sleep(mineMs - nowMs, signal);
    },
  };
}
