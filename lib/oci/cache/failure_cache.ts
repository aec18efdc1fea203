// The cache of permanent failures: kept for half a second for bursts of pods, and for longer once a second look confirms them.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { Freshness } from "../inspection.ts";
import type { FailureReason, InspectionFailure } from "../types.ts";
import { CACHE_SHARES, weightOfTexts } from "../weights.ts";

interface AskedFailure {
  readonly failure: InspectionFailure;
  /** Epoch ms. */
  readonly askedAtMs: number;
}

/** Below the second after which a permanent failure is confirmed (ms). */
const FIRST_MS = 500;
/** Short (ms): the image may be pushed or mended. Transient failures are left to the limits of the host. */
const CONFIRMED_MS = 5_000;
const CACHED_REASONS: readonly FailureReason[] = [
  "ManifestUnknown",
  "Unauthorized",
  "NotAnImage",
  "Malformed",
  "TooLarge",
  "AddressDenied",
];
/** Failures further apart than this are two first ones (ms). */
const FORGOTTEN_MS = 120_000;

interface Entry extends AskedFailure {
  /** When it was kept (monotonic ms). */
  readonly keptAtMs: number;
  readonly lifeMs: number;
}

export class FailureCache {
  readonly #clock: Clock;
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: CACHE_SHARES.failures,
    sizeCalculation: ({ failure }, key) => weightOfTexts(key, failure.message, failure.registry ?? ""),
  });

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** The failure, where it is fresh enough; with `sinceMs` only while its first moment lasts. */
  recall(key: string, freshness: Freshness): InspectionFailure | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const [sinceMs, lifeMs] = typeof freshness === "object" ? [freshness.sinceMs, FIRST_MS] : [-Infinity, entry.lifeMs];
    const isFresh = entry.askedAtMs >= sinceMs && this.#clock.monotonicMs() - entry.keptAtMs < lifeMs;
    return isFresh ? entry.failure : undefined;
  }

  remember(key: string, asked: AskedFailure): void {
    if (!CACHED_REASONS.includes(asked.failure.reason)) return;
    const keptAtMs = this.#clock.monotonicMs();
    const before = this.#entries.get(key);
    const isConfirmed = before !== undefined && before.failure.reason === asked.failure.reason &&
      keptAtMs - before.keptAtMs < FORGOTTEN_MS;
    this.#entries.set(key, { ...asked, keptAtMs, lifeMs: isConfirmed ? CONFIRMED_MS : FIRST_MS });
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }
}
