// Limits the requests to one host, those of one account there, or those to one group of its repositories.
// A refusal counts against its cause alone, so there are three kinds:
//
//   kind     permits that namespaces share    nothing is sent after                          says
//   host     20                               5 failures in a row, but for one probe         CircuitOpen
//   account  20, fewer after refusals         429, until Retry-After; the end of its quota   RateLimited
//   group    those of its host                the same failures; 503, until Retry-After      CircuitOpen
//
// Registries count requests by login, and anonymous ones by address. A group is the repositories of a host that share their
// first path segment (a project, an organisation, a pull-through cache): they often fail together, and without the rest.
import { Breaker, type CircuitState } from "../../breaker.ts";
import { type Clock, orAborted } from "../../clock.ts";
import { type InspectionError, inspectionError } from "../errors.ts";
import type { InspectionPriority } from "../callers.ts";
import { FairLimiter } from "./fair_limiter.ts";
import { Health, type HealthSubject } from "./health_reporter.ts";

const BREAKER = { threshold: 5, baseMs: 500, capMs: 2_000 } as const;
/** Requests of a group that are refused while a probe is under way may come back after this (ms). */
const PROBE_MS = 500;
/** Enough permits to read 100 images a second at 100 ms each, few enough for any registry. A namespace alone gets 16. */
export const PERMITS = { limit: 20, freeFactor: 4 } as const;
/** Pauses up to this long are waited out; for longer ones the refusal says when to come back (ms). */
export const MAX_WAIT_MS = 2_000;
/** How many requests must be left in the registry's window before this priority sends one. Gated pods always may. */
const MIN_REMAINING: Readonly<Record<InspectionPriority, number>> = { gated: 0, admission: 3, prewarm: 20 };
/** A reported quota counts for this long (ms); then the next request reads it again. */
const QUOTA_LIFE_MS = 60_000;

type RegistryLimitKind = "host" | "account" | "group";

export class RegistryLimit {
  /** When it was made (monotonic ms): a group begins with a failure. */
  readonly sinceMs: number;
  readonly subject: HealthSubject;
  readonly health = new Health();
  readonly #kind: RegistryLimitKind;
  readonly #clock: Clock;
  readonly #breaker: Breaker;
  #permits: FairLimiter | undefined;
  #lastError = "";
  #refusals = 0;
  #pausedUntilMs = 0;
  #pauseEnding: Promise<void> | undefined;
  #quota: { readonly remaining: number; readonly untilMs: number } | undefined;

  constructor(kind: RegistryLimitKind, subject: HealthSubject, clock: Clock) {
    this.#kind = kind;
    this.subject = subject;
    this.#clock = clock;
    this.sinceMs = clock.monotonicMs();
    this.#breaker = new Breaker({ clock, ...BREAKER });
  }

  /** After failures one request gets a permit, as a probe; the others wait for what it finds. */
  get permits(): FairLimiter {
    return this.#permits ??= new FairLimiter({
      ...PERMITS,
      mayGive: () => this.#breaker.tryPass(),
      onUnused: () => this.#breaker.withdrew(),
    });
  }

  get circuit(): CircuitState {
    return this.#breaker.state;
  }

  get pausedForMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#clock.monotonicMs());
  }

  /** Requests left in the registry's window, as far as it has said so lately. */
  get remaining(): number | undefined {
    const quota = this.#quota;
    return quota !== undefined && this.#clock.monotonicMs() < quota.untilMs ? quota.remaining : undefined;
  }

  get isUnused(): boolean {
    return this.#permits === undefined || this.#permits.taken + this.#permits.waiting === 0;
  }

  get isIdle(): boolean {
    const isUnlimited = this.circuit === "closed" && this.pausedForMs === 0 && this.remaining === undefined;
    return this.isUnused && isUnlimited && (this.#permits?.limit ?? PERMITS.limit) === PERMITS.limit;
  }

  /** Why a request of this priority is not to be sent; undefined when it may be, or may soon. */
  refusal(priority: InspectionPriority): InspectionError | undefined {
    if (this.#kind === "account") return this.#accountRefusal(priority);
    const { state, isProbing, openForMs } = this.#breaker;
    // Requests wait at a host until its probe has ended; a group has no permits to wait for.
    const isOpen = state === "open" || state === "half-open" && isProbing && this.#kind === "group";
    const retryAfterMs = isOpen ? openForMs || PROBE_MS : this.pausedForMs;
    if (!isOpen && retryAfterMs <= MAX_WAIT_MS) return undefined;
    const scope = this.#kind === "group" ? ` for repositories of "${this.subject.repositories}"` : "";
    const failing = `it keeps failing and is left alone for a moment. Last error: ${this.#lastError}`;
    return this.#refused("CircuitOpen", `${scope}: ${failing}`, retryAfterMs);
  }

  #accountRefusal(priority: InspectionPriority): InspectionError | undefined {
    if (this.pausedForMs > MAX_WAIT_MS) {
      return this.#refused("RateLimited", " now: it limits the requests of this account.", this.pausedForMs);
    }
    const { remaining } = this;
    if (remaining === undefined || remaining >= MIN_REMAINING[priority]) return undefined;
    const message = ` ahead of time: ${remaining} requests of its quota are left.`;
    return this.#refused("RateLimited", message, QUOTA_LIFE_MS);
  }

  #refused(reason: "CircuitOpen" | "RateLimited", why: string, retryAfterMs: number): InspectionError {
    const { registry } = this.subject;
    const message = `Cannot ask registry "${registry}"${why}`;
    return inspectionError(reason, message, { registry, retryAfterMs: Math.ceil(retryAfterMs) });
  }

  /** Rejects what waits for a permit, where it is not to be sent any more. */
  refuseWaiting(): void {
    const refusal = this.refusal("gated");
    if (refusal !== undefined) this.permits.refuseAll(refusal);
  }

  /** Resolves when what is left of the pause now is over, with one timer for all; rejects with the signal's reason. */
  async waitPause(signal: AbortSignal): Promise<void> {
    this.#pauseEnding ??= this.#clock.sleep(this.pausedForMs, new AbortController().signal).finally(() => {
      this.#pauseEnding = undefined;
    });
    await orAborted(this.#pauseEnding, signal);
  }

  /** Whether a request may go now; then {@link worked}, {@link failed}, {@link paused} or {@link withdrew} follows. */
  tryPass(): boolean {
    return this.#breaker.tryPass();
  }

  worked(remaining?: number): void {
    this.#breaker.succeeded();
    this.#refusals = 0;
    this.#permits?.scale((limit) => limit + 1);
    if (remaining !== undefined) this.#quota = { remaining, untilMs: this.#clock.monotonicMs() + QUOTA_LIFE_MS };
  }

  failed(message: string): void {
    this.#lastError = message;
    this.#breaker.failed();
  }

  /** The registry requests a pause. Consecutive ones halve the permits, and by that the refusals of a burst. */
  paused(ms: number, message: string): void {
    this.#lastError = message;
    this.#breaker.withdrew();
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.monotonicMs() + ms);
    this.#refusals += 1;
    if (this.#refusals > 1) this.#permits?.scale((limit) => limit / 2);
  }

  withdrew(): void {
    this.#breaker.withdrew();
  }
}
