// The requests to one registry host: how many at once, who is next, when to pause, when to stop asking. One lane knows
// nothing of another, so a dead registry delays nobody else's images. Kept by budget.ts.
import type { Clock } from "../../clock.ts";
import { Breaker } from "../../breaker.ts";
import { inspectionError } from "../errors.ts";
import type { HostState } from "./host_state.ts";
import type { InspectionPriority } from "../inspector.ts";
import { PriorityQueue, type Waiter } from "./priority_queue.ts";
import type { FailureReason } from "../types.ts";

/** What an exchange told of the host's health. */
export type Outcome =
  | { readonly kind: "answered"; readonly remaining?: number }
  | { readonly kind: "overloaded"; readonly reason: "RateLimited" | "ServerError"; readonly pauseMs: number }
  | { readonly kind: "failed"; readonly reason: FailureReason }
  /** The caller left, or failed for a reason of its own. */
  | { readonly kind: "nothing" };

/** Enough to read 100 images a second at 100 ms each, few enough that no registry minds. */
const MAX_IN_FLIGHT = 16;
/** Pauses up to this long are waited out in line; for longer ones callers are told when to come back (ms). */
export const MAX_WAIT_MS = 2_000;
const MAX_PAUSE_MS = 60_000;
/** With fewer requests left in the window than this, only gated pods (and admission, for the second) may use them. */
const KEPT_FROM: Readonly<Record<InspectionPriority, number>> = { gated: 0, admission: 3, prewarm: 20 };
/** What a registry said of its quota is believed for so long; then somebody may find out anew (ms). */
const QUOTA_LIFE_MS = 60_000;

/** A lane. Every successful {@link enter} is followed by one {@link leave}. */
export class HostLimiter {
  readonly #host: string;
  readonly #clock: Clock;
  readonly #breaker: Breaker;
  readonly #line = new PriorityQueue();
  #limit = MAX_IN_FLIGHT;
  #inFlight = 0;
  #refusals = 0;
  #pausedUntilMs = 0;
  #waking: AbortController | undefined;
  #quota: { readonly remaining: number; readonly untilMs: number } | undefined;
  #lastSuccessAtMs: number | undefined;
  #lastFailure: HostState["lastFailure"];

  /** An empty lane. */
  constructor(options: { readonly host: string; readonly clock: Clock }) {
    this.#host = options.host;
    this.#clock = options.clock;
    this.#breaker = new Breaker({ clock: options.clock, threshold: 5, baseMs: 500, capMs: 2_000 });
  }

  /** Whether nobody is in it: it may be forgotten. */
  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#line.length === 0;
  }

  /** Waits for a place. Throws InspectionError when the host is not to be asked now, or the signal's reason. */
  async enter(priority: () => InspectionPriority, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const refusal = this.#refusal(priority());
    if (refusal !== undefined) throw refusal;
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#line.remove(waiter);
        reject(signal.reason);
        this.#callNext();
      };
      const waiter: Waiter = {
        priority,
        go: () => {
          signal.removeEventListener("abort", leave);
          resolve();
        },
        refuse: (reason) => {
          signal.removeEventListener("abort", leave);
          reject(reason);
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#line.add(waiter);
      this.#callNext();
    });
  }

  /** Gives the place back and tells what came of it. */
  leave(outcome: Outcome): void {
    this.#inFlight -= 1;
    this.#note(outcome);
    this.#callNext();
  }

  /** The state as of now. */
  get state(): HostState {
    const pausedForMs = this.#pausedForMs;
    const quota = this.#quota;
    return {
      host: this.#host,
      circuit: this.#breaker.state,
      inFlight: this.#inFlight,
      limit: Math.floor(this.#limit),
      waiting: this.#line.length,
      ...(quota === undefined ? {} : { remaining: quota.remaining }),
      ...(pausedForMs === 0 ? {} : { pausedForMs }),
      ...(this.#lastSuccessAtMs === undefined ? {} : { lastSuccessAtMs: this.#lastSuccessAtMs }),
      ...(this.#lastFailure === undefined ? {} : { lastFailure: this.#lastFailure }),
    };
  }

  get #pausedForMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#clock.monotonicMs());
  }

  #refusal(priority: InspectionPriority): Error | undefined {
    const registry = this.#host;
    if (this.#breaker.state === "open") {
      const message = `Cannot ask registry "${registry}": it keeps failing and is left alone for a moment.`;
      return inspectionError("CircuitOpen", message, { registry, retryAfterMs: Math.ceil(this.#breaker.openForMs) });
    }
    if (this.#pausedForMs > MAX_WAIT_MS) {
      const message = `Cannot ask registry "${registry}" now: it limits our requests.`;
      return inspectionError("RateLimited", message, { registry, retryAfterMs: Math.ceil(this.#pausedForMs) });
    }
    const quota = this.#quota;
    const isKept = quota !== undefined && this.#clock.monotonicMs() < quota.untilMs &&
      quota.remaining < KEPT_FROM[priority];
    if (!isKept) return undefined;
    const message =
      `Cannot ask registry "${registry}" ahead of time: ${quota.remaining} requests of its quota are left.`;
    return inspectionError("RateLimited", message, { registry, retryAfterMs: QUOTA_LIFE_MS });
  }

  #note(outcome: Outcome): void {
    const [nowMs, atMs] = [this.#clock.monotonicMs(), this.#clock.nowMs()];
    switch (outcome.kind) {
      case "nothing":
        return this.#breaker.withdrew();
      case "answered":
        this.#breaker.succeeded();
        this.#lastSuccessAtMs = atMs;
        this.#refusals = 0;
        this.#limit = Math.min(MAX_IN_FLIGHT, this.#limit + 1);
        if (outcome.remaining !== undefined) {
          this.#quota = { remaining: outcome.remaining, untilMs: nowMs + QUOTA_LIFE_MS };
        }
        return;
      case "overloaded":
        // It lives, so the circuit stays closed; it wants less of us. Refusals in a row mean much less.
        this.#breaker.succeeded();
        this.#lastFailure = { reason: outcome.reason, atMs };
        this.#refusals += 1;
        if (this.#refusals > 1) this.#limit = Math.max(1, this.#limit / 2);
        this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + Math.min(outcome.pauseMs, MAX_PAUSE_MS));
        break;
      case "failed":
        this.#breaker.failed();
        this.#lastFailure = { reason: outcome.reason, atMs };
    }
    const refusal = this.#refusal("gated");
    if (refusal !== undefined) this.#line.refuseAll(() => this.#refusal("gated") ?? refusal);
  }

  /** Lets in as many as may go now; during a pause, comes back when it is over. */
  #callNext(): void {
    if (this.#line.length === 0) return this.#waking?.abort();
    if (this.#pausedForMs > 0) return this.#wakeLater();
    while (this.#inFlight < Math.floor(this.#limit) && this.#line.length > 0 && this.#breaker.tryPass()) {
      this.#inFlight += 1;
      this.#line.next()?.go();
    }
  }

  #wakeLater(): void {
    if (this.#waking !== undefined) return;
    const waking = new AbortController();
    this.#waking = waking;
    void this.#clock.sleep(this.#pausedForMs, waking.signal).then(() => {
      this.#waking = undefined;
      this.#callNext();
    });
  }
}
