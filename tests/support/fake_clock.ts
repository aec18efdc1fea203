// A clock that tests own: time passes only when a test says so, and sleepers wake in the order of their times.
import { setImmediate } from "node:timers";
import type { Clock } from "../../lib/clock.ts";

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

/** Time under a test's control. Wall and monotonic time move together; {@link jumpWall} moves the wall alone. */
export class FakeClock implements Clock {
  #monotonicMs = 0;
  #wallMs: number;
  #sleepers: Sleeper[] = [];

  constructor(options: { readonly nowMs?: number } = {}) {
    this.#wallMs = options.nowMs ?? Date.parse("2026-11-21T12:00:00Z");
  }

  nowMs(): number {
    return this.#wallMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  /** How many sleeps have not ended: lets a test wait until the code under test has gone to sleep. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper: Sleeper = {
        atMs: this.#monotonicMs + ms,
        wake: () => {
          this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
          signal.removeEventListener("abort", sleeper.wake);
          resolve();
        },
      };
      this.#sleepers.push(sleeper);
      signal.addEventListener("abort", sleeper.wake, { once: true });
    });
  }

  /** Moves time on, waking each sleeper at its own time and letting everything it starts run before the next one. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#monotonicMs + ms;
    await settle();
    for (;;) {
      const next = this.#sleepers.reduce<Sleeper | undefined>(
        (first, sleeper) => (first === undefined || sleeper.atMs < first.atMs ? sleeper : first),
        undefined,
      );
      if (next === undefined || next.atMs > endMs) break;
      this.#move(Math.max(next.atMs, this.#monotonicMs));
      next.wake();
      await settle();
    }
    this.#move(endMs);
    await settle();
  }

  /** Sets the wall clock on or back without any time passing, as NTP or an administrator does. */
  jumpWall(ms: number): void {
    this.#wallMs += ms;
  }

  #move(toMs: number): void {
    this.#wallMs += toMs - this.#monotonicMs;
    this.#monotonicMs = toMs;
  }
}

/** Lets promise chains that are ready run to their next real wait. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}
