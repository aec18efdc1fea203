// Waiting for a condition, with a deadline.

/**
 * Twice the 30 s after which an API server takes objects of a new kind as owners (OwnerReferencesPermissionEnforcement): where
 * Archway's kinds have just come, its webhook configuration is refused until then.
 */
const DEADLINE_MS = 60_000;

export interface WaitOptions {
  /** Default 60 s. */
  readonly deadlineMs?: number;
  /** Between two looks. Default a tenth of the time waited so far, of 50 to 500 ms: looks take processor time from what is waited for. */
  readonly intervalMs?: number;
  /** What the error at the deadline says besides. */
  readonly says?: () => unknown;
}

/** Resolves after `ms`: between two looks, or where that time itself is what is tested. A test never sleeps for luck. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Does it again and again, with a pause behind each time, until it is disposed of. */
export function repeatedly(everyMs: number, act: () => Promise<unknown>): AsyncDisposable {
  let isOver = false;
  const running = (async (): Promise<void> => {
    for (; !isOver; await pause(everyMs)) await act();
  })();
  return {
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      await running;
    },
  };
}

/**
 * Calls `probe` until it answers something other than undefined or false, and gives that.
 * A probe that throws counts as "not yet"; the last fault is the cause of the error at the deadline.
 */
export async function waitUntil<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  { deadlineMs = DEADLINE_MS, intervalMs, says = () => "" }: WaitOptions = {},
): Promise<T> {
  const begin = performance.now();
  const end = begin + deadlineMs;
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
    if (performance.now() >= end) {
      throw new Error(`Cannot wait for ${what}: not so after ${deadlineMs} ms; ${String(await says())}`, { cause });
    }
    await pause(intervalMs ?? Math.min(Math.max((performance.now() - begin) / 10, 50), 500));
  }
}

/** Thrown by a probe to end {@link waitUntil} at once with the cause: waiting longer is pointless. */
export class GiveUp extends Error {
  override readonly name = "GiveUp";
  constructor(cause: unknown) {
    super("no use in waiting", { cause });
  }
}
