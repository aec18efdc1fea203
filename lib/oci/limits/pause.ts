// A time in which nothing is sent. All waiting requests share one timer.
import { type Clock, orAborted } from "../../clock.ts";

/** Pauses up to this long are waited out; for longer ones the refusal says when to come back (ms). */
export const MAX_WAIT_MS = 2_000;

export class Pause {
  readonly #clock: Clock;
  #untilMs = 0;
  #ending: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.#clock.monotonicMs());
  }

  /** Lasts so long from now on, unless it lasts longer already. */
  extend(ms: number): void {
    this.#untilMs = Math.max(this.#untilMs, this.#clock.monotonicMs() + ms);
  }

  /** Resolves when what is left of it now is over; rejects with the signal's reason. */
  async wait(signal: AbortSignal): Promise<void> {
    this.#ending ??= this.#clock.sleep(this.leftMs, new AbortController().signal).finally(() => {
      this.#ending = undefined;
    });
    await orAborted(this.#ending, signal);
  }
}
