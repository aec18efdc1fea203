// Limits rate and parallelism of writes: changing every node or pod takes a small share of the API server.
import type { Clock } from "../clock.ts";

/** 5 000 nodes take less than nine minutes, at 20 requests a second including reads. */
const WRITES_A_SECOND = 10;

export interface RateLimiter {
  wait(signal: AbortSignal): Promise<void>;
}

/** How much sooner a write may start (ms) after a late wait: timers on a busy machine are late. */
const CREDIT_MS = 300;

export function openRateLimiter(clock: Clock, writesASecond: number = WRITES_A_SECOND): RateLimiter {
  const everyMs = 1_000 / writesASecond;
  let nextMs = 0;
  return {
    wait: async (signal) => {
      const nowMs = clock.monotonicMs();
      const mineMs = Math.max(nowMs - CREDIT_MS, nextMs);
      nextMs = mineMs + everyMs;
      if (mineMs > nowMs) await clock.sleep(mineMs - nowMs, signal);
    },
  };
}

/** Starts writes and tracks running ones, so that their duration does not limit the rate. */
export interface WriteSlots {
  /** Starts a write once fewer than the maximum run. Ignores errors of the write, which must report them itself. */
  start(write: () => Promise<void>): Promise<void>;
  finished(): Promise<void>;
}

export function openWriteSlots(max = 4): WriteSlots {
  const underWay = new Set<Promise<void>>();
  return {
    start: async (write) => {
      while (underWay.size >= max) await Promise.race(underWay);
      const pending: Promise<void> = write().catch(() => undefined).finally(() => underWay.delete(pending));
      underWay.add(pending);
    },
    finished: async () => {
      await Promise.all(underWay);
    },
  };
}
