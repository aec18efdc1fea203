// A circuit breaker: after enough failures in a row, no call passes for a while. Then one call at a time passes as the
// probe, until one succeeds. An older call that ends late frees the place of the probe, so there may be two probes.
import type { Clock } from "./clock.ts";

/** `closed`: all calls pass. `open`: none. `half-open`: one probe is under way or due. */
export type CircuitState = "closed" | "open" | "half-open";

/** `threshold`: failures in a row that open the breaker. It is open for `baseMs`, then twice as long, up to `capMs`. */
interface CircuitBreakerOptions {
  readonly clock: Clock;
  readonly threshold: number;
  readonly baseMs: number;
  readonly capMs: number;
}

/** A call that {@link tryPass} allows must report {@link succeeded}, {@link failed} or {@link withdrew}. */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #failures = 0;
  #openings = 0;
  #openUntilMs: number | undefined;
  #isProbing = false;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  get state(): CircuitState {
    if (this.#openUntilMs === undefined) return "closed";
    return this.#options.clock.monotonicMs() < this.#openUntilMs ? "open" : "half-open";
  }

  get openForMs(): number {
    return Math.max(0, (this.#openUntilMs ?? 0) - this.#options.clock.monotonicMs());
  }

  /** Whether a call may begin now. */
  get letsPass(): boolean {
    const { state } = this;
    return state === "closed" || state === "half-open" && !this.#isProbing;
  }

  /** Begins a call, if one may begin now. When half-open, the first one is the probe. */
  tryPass(): boolean {
    const { letsPass } = this;
    if (letsPass) this.#isProbing = this.state === "half-open";
    return letsPass;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openings = 0;
    this.#openUntilMs = undefined;
    this.#isProbing = false;
  }

  failed(): void {
    const { clock, threshold, baseMs, capMs } = this.#options;
    this.#failures += 1;
    const isProbe = this.#isProbing;
    this.#isProbing = false;
    if (this.#openUntilMs !== undefined ? !isProbe : this.#failures < threshold) return;
    this.#openUntilMs = clock.monotonicMs() + Math.min(capMs, baseMs * 2 ** this.#openings);
    this.#openings = Math.min(this.#openings + 1, 20);
  }

  withdrew(): void {
    this.#isProbing = false;
  }
}
