// What a registry grants one login. Registries count requests by login, and anonymous ones by address.
import type { Clock } from "../../clock.ts";
import { type RegistryError, registryError } from "../errors.ts";
import type { InspectionPriority } from "../callers.ts";
import { MAX_WAIT_MS } from "./outcome.ts";

/** How many requests must be left in the registry's window before this priority sends one. Gated pods always may. */
const MIN_REMAINING: Readonly<Record<InspectionPriority, number>> = { gated: 0, admission: 3, prewarm: 20 };
/** A reported quota counts for this long (ms); then the next request reads it again. */
const QUOTA_LIFE_MS = 60_000;

export class Account {
  readonly #registry: string;
  readonly #clock: Clock;
  #pausedUntilMs = 0;
  #quota: { readonly remaining: number; readonly untilMs: number } | undefined;

  constructor(registry: string, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
  }

  get pausedForMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#clock.monotonicMs());
  }

  /** Requests left in the registry's window, as far as the registry has said so lately. */
  get remaining(): number | undefined {
    const quota = this.#quota;
    return quota !== undefined && this.#clock.monotonicMs() < quota.untilMs ? quota.remaining : undefined;
  }

  /** Why a request of this priority must not be sent; undefined when it may be sent now or soon. */
  refusal(priority: InspectionPriority): RegistryError | undefined {
    const { pausedForMs, remaining } = this;
    if (pausedForMs > MAX_WAIT_MS) return this.#refused("now: it limits the requests of this account.", pausedForMs);
    if (remaining === undefined || remaining >= MIN_REMAINING[priority]) return undefined;
    return this.#refused(`ahead of time: ${remaining} requests of its quota are left.`, QUOTA_LIFE_MS);
  }

  answered(remaining: number | undefined): void {
    if (remaining !== undefined) this.#quota = { remaining, untilMs: this.#clock.monotonicMs() + QUOTA_LIFE_MS };
  }

  /** The registry requests a pause. */
  paused(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.monotonicMs() + ms);
  }

  #refused(why: string, retryAfterMs: number): RegistryError {
    const registry = this.#registry;
    const message = `Cannot ask registry "${registry}" ${why}`;
    return registryError("RateLimited", message, { registry, retryAfterMs: Math.ceil(retryAfterMs) });
  }
}
