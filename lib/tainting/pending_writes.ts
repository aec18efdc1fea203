// Writes under way. A few run at a time, so that the rate depends on the pace and not on how long each takes.

/** Starts writes, and keeps those that have not ended. */
export interface PendingWrites {
  /** Starts one as soon as fewer than the maximum run. What it throws is lost: it reports by itself. */
  start(write: () => Promise<void>): Promise<void>;
  /** Resolves when none is under way. */
  settled(): Promise<void>;
}

/** Makes them; so many are under way at a time. */
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
