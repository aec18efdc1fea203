// How far the API server's clock is from ours, narrowed down from the whole seconds of its `Date` headers.
import type { Clock } from "../clock.ts";

/**
 * An estimate that every answer improves. It is kept against our monotonic clock, so that a jump of our wall clock makes
 * no pod look older or younger than it is, not even until the next answer.
 */
export class ServerClock {
  readonly #clock: Clock;
  /** The server's epoch time less our monotonic time lies between these (ms). */
  #lowMs = -Infinity;
  #highMs = Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Takes one answer into account. The server stamped it between `sentMs` and `receivedMs` (monotonic), and cut the time down to
   * a second: its clock was in [date, date + 1 s). What two answers allow is their overlap; none means that the server's
   * clock has jumped.
   */
  learn(dateHeader: string | null, options: { readonly sentMs: number; readonly receivedMs: number }): void {
    const dateMs = Date.parse(dateHeader ?? "");
    if (Number.isNaN(dateMs)) return;
    const [low, high] = [dateMs - options.receivedMs, dateMs + 1_000 - options.sentMs];
    const [bothLow, bothHigh] = [Math.max(low, this.#lowMs), Math.min(high, this.#highMs)];
    [this.#lowMs, this.#highMs] = bothLow <= bothHigh ? [bothLow, bothHigh] : [low, high];
  }

  /** How far the server is ahead of our wall clock as it is now (ms), the middle of what is possible; 0 until an answer. */
  offsetMs(): number {
    if (!Number.isFinite(this.#lowMs)) return 0;
    const serverMs = this.#clock.monotonicMs() + (this.#lowMs + this.#highMs) / 2;
    return Math.round(serverMs - this.#clock.nowMs());
  }
}
