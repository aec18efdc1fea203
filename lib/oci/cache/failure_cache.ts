// The cache of permanent failures: the pods of a burst share one for a moment. Each pod confirms it by a later look-up.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { RegistryFailure } from "../types.ts";
import { CACHE_SHARES, weightOfTexts } from "../weights.ts";

interface AskedFailure {
  readonly failure: RegistryFailure;
  /** When its look-up began (monotonic ms). */
  readonly askedAtMs: number;
}

/** Below the second after which a pod confirms a permanent failure (ms). The limits of the host bound transient ones. */
const KEPT_MS = 500;

interface KeptFailure extends AskedFailure {
  /** Monotonic ms. */
  readonly keptAtMs: number;
}

export class FailureCache {
  readonly #clock: Clock;
  readonly #entries = new LRUCache<string, KeptFailure>({
    maxSize: CACHE_SHARES.failures,
    sizeCalculation: ({ failure }, key) => weightOfTexts(key, failure.message, failure.registry ?? ""),
  });

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** The failure that was kept a moment ago, where its look-up did not begin before `askedSinceMs`. */
  recall(key: string, askedSinceMs: number): RegistryFailure | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.askedAtMs < askedSinceMs) return undefined;
    return this.#clock.monotonicMs() - entry.keptAtMs < KEPT_MS ? entry.failure : undefined;
  }

  remember(key: string, asked: AskedFailure): void {
    // Look-ups that overlap may end in another order than they began.
    const isOlder = asked.askedAtMs < (this.#entries.peek(key)?.askedAtMs ?? -Infinity);
    if (isOlder || asked.failure.kind === "transient") return;
    this.#entries.set(key, { ...asked, keptAtMs: this.#clock.monotonicMs() });
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }
}
