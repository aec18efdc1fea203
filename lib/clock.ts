// Time and waits. Code that waits or takes timestamps gets a Clock where its tests control time.

/** Time and waiting. `nowMs` is wall time (epoch ms); `monotonicMs` never jumps. */
export interface Clock {
  nowMs(): number;
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects: callers check the signal. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The longest delay that `setTimeout` takes (ms); a longer one fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const finish = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", finish);
        resolve();
      };
      const startTimer = (leftMs: number): ReturnType<typeof setTimeout> =>
        leftMs <= MAX_TIMER_MS
          ? setTimeout(finish, leftMs)
          : setTimeout(() => timer = startTimer(leftMs - MAX_TIMER_MS), MAX_TIMER_MS);
      let timer = startTimer(ms);
      signal.addEventListener("abort", finish, { once: true });
    }),
};

const CHECK_MS = 20;

/** Waits until something holds. False when it still does not after `limitMs`, or the signal aborts. Never rejects. */
export async function holdsWithin(
  condition: () => boolean,
  { clock, limitMs, signal }: { readonly clock: Clock; readonly limitMs: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const endMs = clock.monotonicMs() + limitMs;
  while (!condition()) {
    if (signal.aborted || clock.monotonicMs() >= endMs) return false;
    await clock.sleep(CHECK_MS, signal);
  }
  return true;
}

/** A random delay between `least` and `most` of `baseMs`, so that many waiters spread out. */
export function jitter(baseMs: number, least = 0.5, most = 1): number {
  return baseMs * (least + Math.random() * (most - least)); // eslint-disable-line sonarjs/pseudo-random -- no secret
}

export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Exponential backoff: attempt 1 waits `baseMs`, each later one twice as long, at most `capMs`. */
export function doublingMs(attempt: number, { baseMs, capMs }: Backoff): number {
  return Math.min(capMs, baseMs * 2 ** Math.max(0, attempt - 1));
}

/** {@link doublingMs} with {@link jitter}. */
export function backoffMs(attempt: number, options: Backoff): number {
  return jitter(doublingMs(attempt, options));
}

/** Settles as `work` does, or rejects with the signal's reason as soon as it aborts. The work itself goes on. */
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

export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

export const LATE = Symbol("late");

/**
 * Settles as `work` does, or resolves with {@link LATE} after `limitMs`. The work goes on; its late rejection is
 * ignored.
 */
export async function withinMs<T>(
  work: Promise<T>,
  { limitMs, clock }: { readonly limitMs: number; readonly clock: Clock },
): Promise<T | typeof LATE> {
  const ended = new AbortController();
  work.catch(() => {});
  const timer = clock.sleep(limitMs, ended.signal).then((): typeof LATE => LATE);
  try {
    return await Promise.race([work, timer]);
  } finally {
    ended.abort();
  }
}

/** A time limit for one piece of work. Use with `using`: disposing frees the timer and the parent's listener. */
export interface Deadline extends Disposable {
  /** Aborts with the parent's reason, or with a TimeoutError when the time is up. */
  readonly signal: AbortSignal;
  restart(): void;
  /** Removes the time limit; the parent's abort still applies. */
  cancel(): void;
}

/** Our own abort reason: the default exception costs 10 µs per request. */
const CANCELLED = "cancelled";

/** Unlike `AbortSignal.any`, disposing leaves nothing on the parent, which may live as long as the process. */
export function openDeadline(ms: number, options: { readonly signal: AbortSignal; readonly clock: Clock }): Deadline {
  const { signal: parent, clock } = options;
  const controller = new AbortController();
  const cancelled = new AbortController();
  let startedMs = clock.monotonicMs();
  const follow = (): void => controller.abort(parent.reason);
  if (parent.aborted) follow();
  else parent.addEventListener("abort", follow, { once: true });
  const count = async (): Promise<void> => {
    for (let leftMs = ms; leftMs > 0; leftMs = startedMs + ms - clock.monotonicMs()) {
      await clock.sleep(leftMs, cancelled.signal);
      if (cancelled.signal.aborted) return;
    }
    controller.abort(new DOMException(`Nothing heard for ${Math.round(ms)} ms`, "TimeoutError"));
  };
  void count();
  return {
    signal: controller.signal,
    restart: () => {
      startedMs = clock.monotonicMs();
    },
    cancel: () => cancelled.abort(CANCELLED),
    [Symbol.dispose]: () => {
      parent.removeEventListener("abort", follow);
      cancelled.abort(CANCELLED);
    },
  };
}
