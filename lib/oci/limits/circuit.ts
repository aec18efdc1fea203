// Stops requests to what keeps failing: a host, or a group of its repositories.
import { CircuitBreaker, type CircuitState } from "../../circuit_breaker.ts";
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";
import { type RegistryError, registryError } from "../errors.ts";
import { MAX_WAIT_MS } from "./outcome.ts";

interface CircuitDeps {
  readonly clock: Clock;
  readonly log: Logger;
}

interface Subject {
  readonly registry: string;
  /** The name of the group (see failing_groups.ts); absent: the whole host. */
  readonly repositories?: string | undefined;
}

const BREAKER = { threshold: 5, baseMs: 500, capMs: 2_000 } as const;
/** Requests that are refused while a probe is under way may come back after this (ms). */
const PROBE_MS = 500;

export class Circuit {
  /** When the circuit was made (monotonic ms): for a group, the time of its first failure. */
  readonly sinceMs: number;
  readonly #deps: CircuitDeps;
  readonly #subject: Subject;
  readonly #breaker: CircuitBreaker;
  #lastError = "";
  #isReported = false;
  #pausedUntilMs = 0;

  constructor(subject: Subject, deps: CircuitDeps) {
    this.#deps = deps;
    this.#subject = subject;
    this.sinceMs = deps.clock.monotonicMs();
    this.#breaker = new CircuitBreaker({ clock: deps.clock, ...BREAKER });
  }

  get state(): CircuitState {
    return this.#breaker.state;
  }

  get pausedForMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#deps.clock.monotonicMs());
  }

  /** Why no request may be sent now; undefined when one may be sent now or soon. */
  refusal(): RegistryError | undefined {
    const { letsPass, openForMs } = this.#breaker;
    const retryAfterMs = letsPass ? this.pausedForMs : openForMs || PROBE_MS;
    if (letsPass && retryAfterMs <= MAX_WAIT_MS) return undefined;
    const { registry, repositories } = this.#subject;
    const scope = repositories === undefined ? "" : ` for repositories of "${repositories}"`;
    // The cause comes first: annotations hold only the beginning of a message.
    const cause = this.#lastError.replace(/\.$/, "");
    const message = `${cause}; registry "${registry}"${scope} keeps failing and is left alone for a moment`;
    return registryError("CircuitOpen", message, { registry, retryAfterMs: Math.ceil(retryAfterMs) });
  }

  /** Begins a request; after failures the first one is a probe. Disposing the result ends it, whatever its outcome. */
  begin(): Disposable {
    this.#breaker.tryPass();
    return { [Symbol.dispose]: () => this.#breaker.withdrew() };
  }

  /** The registry answers, though perhaps not with content. */
  answered(): void {
    this.#breaker.succeeded();
  }

  worked(): void {
    this.answered();
    if (this.#isReported) this.#deps.log.info("registry works again", { ...this.#subject });
    this.#isReported = false;
  }

  failed(message: string): void {
    this.#lastError = message;
    this.#breaker.failed();
    if (this.state === "closed" || this.#isReported) return;
    this.#deps.log.warn("registry fails", { ...this.#subject, cause: message });
    this.#isReported = true;
  }

  /** The registry requests a pause. */
  paused(ms: number, message: string): void {
    this.#lastError = message;
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#deps.clock.monotonicMs() + ms);
  }
}
