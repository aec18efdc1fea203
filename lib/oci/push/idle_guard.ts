// Ends a request that has stopped moving, however long a moving one takes.
import { inspectionError } from "../errors.ts";

/** How long nothing may move while bytes are sent, and how long the answer may take after the last one (ms). */
export interface IdleLimits {
  readonly idleMs: number;
  readonly answerMs: number;
}

/** A registry may verify or move gigabytes before it answers. */
export const IDLE_LIMITS: IdleLimits = { idleMs: 60_000, answerMs: 300_000 };

/** For the limits of an exchange that this guards instead: as long as a timer can be set for (ms). */
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

  /** Aborts when nothing has moved for too long; its reason is an InspectionError. */
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
    // What is left of a stream may still move when its request is over.
    if (this.#isOver) return;
    this.#timer = setTimeout(() => {
      const message = `Cannot write to "${this.#registry}": nothing has moved for ${Math.round(ms / 1_000)} s.`;
      this.#idle.abort(inspectionError("Timeout", message, { registry: this.#registry }));
    }, ms);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
