// Tokens that come back with time: how often something may be begun.

export interface TokenRate {
  readonly burst: number;
  readonly perSecond: number;
}

/** A bucket of tokens; full at first. Times are monotonic (ms). */
export class TokenBucket {
  readonly #rate: TokenRate;
  #tokens: number;
  #atMs: number;

  constructor(rate: TokenRate, nowMs: number) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#atMs = nowMs;
  }

  has(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#tokens >= 1;
  }

  isFull(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#tokens >= this.#rate.burst;
  }

  /** Takes one, whether it is there or not. */
  take(): void {
    this.#tokens--;
  }

  giveBack(): void {
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + 1);
  }

  #refill(nowMs: number): void {
    const { burst, perSecond } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + (nowMs - this.#atMs) * perSecond / 1_000);
    this.#atMs = nowMs;
  }
}
