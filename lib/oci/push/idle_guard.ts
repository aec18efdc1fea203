// Aborts a request that makes no progress, without limiting its total time.
import { registryError } from "../errors.ts";

/** Longest time without progress while bytes are sent, and from the last byte to the answer (ms). */
export interface IdleLimits {
  readonly idleMs: number;
  readonly answerMs: number;
}

/** A registry may verify or move gigabytes before it answers. */
export const IDLE_LIMITS: IdleLimits = { idleMs: 60_000, answerMs: 300_000 };

/** The largest timer (ms): replaces the time limits of an exchange that this class guards. */
export const GUARDED_TIMEOUTS = { headersMs: 2 ** 31 - 1, totalMs: 2 ** 31 - 1 };

export class IdleGuard implements Disposable {
  readonly #limits: IdleLimits;
  readonly #registry: string;
  readonly #idle = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(registry: string, limits: IdleLimits) {
    this.#registry = registry;
    this.#limits = limits;
    this.moved();
  }

  /** Aborts after too long without progress; its reason is a RegistryError. */
  get signal(): AbortSignal {
    return this.#idle.signal;
  }

  moved(): void {
    this.#arm(this.#limits.idleMs);
  }

  sent(): void {
    this.#arm(this.#limits.answerMs);
  }

  #arm(ms: number): void {
    clearTimeout(this.#timer);
    // The rest of a stream may still move after its request has ended.
    if (this.#isOver) return;
    this.#timer = setTimeout(() => {
      const message = `Cannot write to "${this.#registry}": nothing has moved for ${Math.round(ms / 1_000)} s.`;
      this.#idle.abort(registryError("Timeout", message, { registry: this.#registry }));
    }, ms);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
