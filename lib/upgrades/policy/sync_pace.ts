// When a policy source is read next. Pure.

/** How the last time ended; `first`: it was not read yet. */
export type LastSync =
  | { readonly kind: "first" }
  | { readonly kind: "synced" }
  | { readonly kind: "failed"; readonly failures: number };

const MINUTE_MS = 60_000;
const LONGEST_BACKOFF_MS = 60 * MINUTE_MS;
/** The share by which a pause varies. */
const JITTER = 0.1;

/** How long to wait (ms). `random` is at least 0 and below 1. */
export function nextSyncMs(
  last: LastSync,
  { watchIntervalMinutes, random }: { readonly watchIntervalMinutes: number; readonly random: number },
): number {
  if (last.kind === "failed") return Math.min(LONGEST_BACKOFF_MS, MINUTE_MS * 2 ** (last.failures - 1));
  const pauseMs = last.kind === "first" ? MINUTE_MS : watchIntervalMinutes * MINUTE_MS;
  return pauseMs * (1 - JITTER + 2 * JITTER * random);
}
