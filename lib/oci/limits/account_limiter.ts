// What one account may ask of one host. Registries count requests by login, and anonymous ones by address, so a refusal of
// one account says nothing of another. After refusals it sends less at a time; the last requests of a quota are kept for
// gated pods.
import type { Clock } from "../../clock.ts";
import type { InspectionPriority } from "../inspector.ts";
import { FairLimiter, HOST_PLACES } from "./fair_limiter.ts";
import { MAX_WAIT_MS, Pause } from "./pause.ts";

/** With fewer requests left in the window than this, only gated pods (and admission, for the second) may use them. */
const KEPT_FROM: Readonly<Record<InspectionPriority, number>> = { gated: 0, admission: 3, prewarm: 20 };
/** A reported quota is used for so long; then one request may read it again (ms). */
const QUOTA_LIFE_MS = 60_000;

/** Why an account may not ask now, and when it may. */
export interface AccountRefusal {
  readonly message: string;
  readonly retryAfterMs: number;
}

export class AccountLimiter {
  readonly places = new FairLimiter(HOST_PLACES);
  readonly pause: Pause;
  readonly #clock: Clock;
  #refusals = 0;
  #quota: { readonly remaining: number; readonly untilMs: number } | undefined;

  /** Without refusals. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.pause = new Pause(clock);
  }

  /** Whether no request of it holds or awaits a place. */
  get isUnused(): boolean {
    return this.places.taken + this.places.waiting === 0;
  }

  /** Whether nothing would be lost by forgetting it. */
  get isIdle(): boolean {
    const isUnlimited = this.places.limit === HOST_PLACES.limit && this.pause.leftMs === 0;
    return this.isUnused && isUnlimited && this.remaining === undefined;
  }

  /** Requests left in the registry's window, as far as it has said so lately. */
  get remaining(): number | undefined {
    const quota = this.#quota;
    return quota !== undefined && this.#clock.monotonicMs() < quota.untilMs ? quota.remaining : undefined;
  }

  /** Why a request of this priority is not to be sent; undefined when it may be, or may soon. */
  refusal(registry: string, priority: InspectionPriority): AccountRefusal | undefined {
    if (this.pause.leftMs > MAX_WAIT_MS) {
      const message = `Cannot ask registry "${registry}" now: it limits the requests of this account.`;
      return { message, retryAfterMs: Math.ceil(this.pause.leftMs) };
    }
    const { remaining } = this;
    if (remaining === undefined || remaining >= KEPT_FROM[priority]) return undefined;
    const message = `Cannot ask registry "${registry}" ahead of time: ${remaining} requests of its quota are left.`;
    return { message, retryAfterMs: QUOTA_LIFE_MS };
  }

  answered(remaining: number | undefined): void {
    this.#refusals = 0;
    this.places.scale((limit) => limit + 1);
    if (remaining !== undefined) this.#quota = { remaining, untilMs: this.#clock.monotonicMs() + QUOTA_LIFE_MS };
  }

  /** The registry refused. Consecutive refusals reduce the rate much further. */
  refused(pauseMs: number): void {
    this.#refusals += 1;
    this.pause.extend(pauseMs);
    if (this.#refusals > 1) this.places.scale((limit) => limit / 2);
  }
}
