// Writes at a steady rate, a few at a time: a change of every node or pod takes a small share of the API server.
import type { Clock } from "../clock.ts";

/** Writes a second: 5 000 nodes take less than nine minutes, at 20 requests a second with all that belongs to them. */
const WRITES_A_SECOND = 10;

export interface RateLimiter {
  wait(signal: AbortSignal): Promise<void>;
}

/** A wait may be this much shorter (ms) after one that ended late: timers of a busy machine are late. */
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

/** Starts writes, and keeps those that have not ended: the rate depends on the limiter and not on how long each takes. */
export interface PendingWrites {
  /** Starts one as soon as fewer than the maximum run. What it throws is lost: it reports by itself. */
  start(write: () => Promise<void>): Promise<void>;
  settled(): Promise<void>;
}

export function openPendingWrites(max = 4): PendingWrites {
  const underWay = new Set<Promise<void>>();
  return {
    start: async (write) => {
      while (underWay.size >= max) await Promise.race(underWay);
      const pending: Promise<void> = write().catch(() => undefined).finally(() => underWay.delete(pending));
      underWay.add(pending);
    },
    settled: async () => {
      await Promise.all(underWay);
    },
  };
}
