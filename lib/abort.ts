// Waiting for a signal, and for work that itself takes no signal or no time limit.
import type { Clock } from "./clock.ts";

/** What the promise gives; rejects with the signal's reason as soon as that aborts. The work itself goes on. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      work.catch(() => {});
      return reject(signal.reason);
    }
    const leave = (): void => reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

/** Resolves when the signal aborts; at once where it has. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** Stands for the answer of work that took too long. */
export const LATE = Symbol("late");

/** What the promise gives, or {@link LATE} after `limitMs`. A late rejection is dropped; the work itself goes on. */
export async function withinMs<T>(
  work: Promise<T>,
  { limitMs, clock }: { readonly limitMs: number; readonly clock: Clock },
): Promise<T | typeof LATE> {
  const settled = new AbortController();
  work.catch(() => {});
  const timer = clock.sleep(limitMs, settled.signal).then((): typeof LATE => LATE);
  try {
    return await Promise.race([work, timer]);
  } finally {
    settled.abort();
  }
}
