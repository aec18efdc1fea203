// How far the API server's clock is from ours, narrowed down from the whole seconds of its `Date` headers.

/** An estimate that every answer improves. All times are epoch milliseconds of our wall clock. */
export class ServerClock {
  #lowMs = -Infinity;
  #highMs = Infinity;

  /**
   * Learns from one answer. The server stamped it between `sentMs` and `receivedMs`, and cut the time down to a second:
   * its clock was in [date, date + 1 s). What two answers allow is their overlap; none means that a clock has jumped.
   */
  learn(dateHeader: string | null, options: { readonly sentMs: number; readonly receivedMs: number }): void {
    const dateMs = Date.parse(dateHeader ?? "");
    if (Number.isNaN(dateMs)) return;
    const [low, high] = [dateMs - options.receivedMs, dateMs + 1_000 - options.sentMs];
    const [bothLow, bothHigh] = [Math.max(low, this.#lowMs), Math.min(high, this.#highMs)];
    [this.#lowMs, this.#highMs] = bothLow <= bothHigh ? [bothLow, bothHigh] : [low, high];
  }

  /** The middle of what is possible: positive when the server is ahead of us; 0 until an answer was seen. */
  offsetMs(): number {
    return Number.isFinite(this.#lowMs) ? Math.round((this.#lowMs + this.#highMs) / 2) : 0;
  }
}
