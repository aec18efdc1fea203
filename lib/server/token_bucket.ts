// Limits a rate: `burst` at once after a quiet time, `perSecond` in the long run. Times are monotonic (ms).

export interface TokenRate {
  readonly burst: number;
  readonly perSecond: number;
}

/** Full at first. */
export class TokenBucket {
  readonly rate: TokenRate;
  #left: number;
  #sinceMs = 0;

  constructor(rate: TokenRate) {
    [this.rate, this.#left] = [rate, rate.burst];
  }

  left(nowMs: number): number {
    this.add((nowMs - this.#sinceMs) * this.rate.perSecond / 1_000);
    this.#sinceMs = nowMs;
    return this.#left;
  }

  add(tokens: number): void {
    this.#left = Math.min(this.rate.burst, this.#left + tokens);
  }
}
