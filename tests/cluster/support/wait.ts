// Waiting for a condition with a deadline: the only way tests let time pass.

/** How long and how often to look. */
export interface WaitOptions {
  readonly deadlineMs?: number;
  readonly intervalMs?: number;
}

/** Resolves after `ms`. Only for polling; a test never sleeps for luck. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Calls `probe` until it answers something other than undefined or false, and gives that.
 * A probe that throws counts as "not yet"; the last fault is the cause of the error at the deadline (default 30 s).
 */
export async function waitUntil<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  { deadlineMs = 30_000, intervalMs = 50 }: WaitOptions = {},
): Promise<T> {
  const end = performance.now() + deadlineMs;
  let cause: unknown;
  for (;;) {
    try {
      const found = await probe();
      if (found !== undefined && found !== false) return found;
      cause = undefined;
    } catch (error) {
      if (error instanceof GiveUp) throw error.cause;
      cause = error;
    }
    if (performance.now() >= end) throw new Error(`Cannot wait for ${what}: not so after ${deadlineMs} ms`, { cause });
    await pause(intervalMs);
  }
}

/** Thrown by a probe to end {@link waitUntil} at once with the cause: waiting longer is pointless. */
export class GiveUp extends Error {
  override readonly name = "GiveUp";
  constructor(cause: unknown) {
    super("no use in waiting", { cause });
  }
}
