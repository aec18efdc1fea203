// Stops requests to what keeps failing: a host, or a group of its repositories that share their first path segment
// (a project, an organisation, a pull-through cache). Groups often fail together, and without the rest of their host.
import { Breaker } from "../../breaker.ts";
import type { Clock } from "../../clock.ts";
import { type RegistryError, registryError } from "../errors.ts";
import type { HealthReporter, HealthSubject } from "./health_reporter.ts";
import { MAX_WAIT_MS } from "./outcome.ts";

const BREAKER = { threshold: 5, baseMs: 500, capMs: 2_000 } as const;
/** Requests that are refused while a probe is under way may come back after this (ms). */
const PROBE_MS = 500;

export class Circuit {
  /** When it was made (monotonic ms): a group begins with a failure. */
  readonly sinceMs: number;
  readonly breaker: Breaker;
  readonly #subject: HealthSubject;
  readonly #reporter: HealthReporter;
  readonly #clock: Clock;
  #lastError = "";
  #isReported = false;
  #pausedUntilMs = 0;

  constructor(subject: HealthSubject, reporter: HealthReporter, clock: Clock) {
    this.#subject = subject;
    this.#reporter = reporter;
    this.#clock = clock;
    this.sinceMs = clock.monotonicMs();
    this.breaker = new Breaker({ clock, ...BREAKER });
  }

  get pausedForMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#clock.monotonicMs());
  }

  /** Whether nothing is known that holds back a request. */
  get isUnlimited(): boolean {
    return this.breaker.state === "closed" && this.pausedForMs === 0;
  }

  /** Why nothing is to be sent now; undefined when a request may go, or may soon. */
  refusal(): RegistryError | undefined {
    const { letsPass, openForMs } = this.breaker;
    const retryAfterMs = letsPass ? this.pausedForMs : openForMs || PROBE_MS;
    if (letsPass && retryAfterMs <= MAX_WAIT_MS) return undefined;
    const { registry, repositories } = this.#subject;
    const scope = repositories === undefined ? "" : ` for repositories of "${repositories}"`;
    // The cause comes first: annotations hold the beginning of it.
    const cause = this.#lastError.replace(/\.$/, "");
    const message = `${cause}; registry "${registry}"${scope} keeps failing and is left alone for a moment`;
    return registryError("CircuitOpen", message, { registry, retryAfterMs: Math.ceil(retryAfterMs) });
  }

  worked(): void {
    this.breaker.succeeded();
    if (this.#isReported) this.#reporter.worked(this.#subject);
    this.#isReported = false;
  }

  failed(message: string): void {
    this.#lastError = message;
    this.breaker.failed();
    if (this.breaker.state === "closed" || this.#isReported) return;
    this.#isReported = this.#reporter.failed(this.#subject, message);
  }

  /** The registry requests a pause. */
  paused(ms: number, message: string): void {
    this.#lastError = message;
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.monotonicMs() + ms);
  }
}
