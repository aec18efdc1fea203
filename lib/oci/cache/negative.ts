// Failures that would only repeat themselves. The first failure of an image is shared for a moment, so that a burst of pods
// costs one request; the confirmation a second later passes through; once confirmed, it is remembered by class for longer.
// Used by cached.ts.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { InspectionRequest } from "../inspector.ts";
import type { FailureReason, InspectionFailure } from "../types.ts";

/** The memory of failures. */
export interface NegativeCache {
  /** The failure; for `revalidate` only while its first moment lasts. */
  recall(key: string, freshness: InspectionRequest["freshness"]): InspectionFailure | undefined;
  /** Keeps a failure, for longer when it confirms an earlier one. */
  remember(key: string, failure: InspectionFailure): void;
  /** The image was inspected: nothing is confirmed any more. */
  forget(key: string): void;
}

/** Below the second after which a permanent failure is confirmed (ms). */
const FIRST_MS = 500;
/**
 * How long a confirmed failure is believed (ms): short, because somebody may push the missing image or mend the wrong one.
 * Transient failures are not remembered: the host's lane knows when to ask again.
 */
const CONFIRMED_MS = 5_000;
const REPEATING: readonly FailureReason[] = [
  "ManifestUnknown",
  "Unauthorized",
  "NotAnImage",
  "Malformed",
  "TooLarge",
  "AddressDenied",
];
/** Failures further apart than this are two first ones (ms). */
const FORGOTTEN_MS = 120_000;

interface Entry {
  readonly failure: InspectionFailure;
  readonly atMs: number;
  readonly lifeMs: number;
}

/** Opens an empty memory. */
export function openNegativeCache(options: { readonly clock: Clock }): NegativeCache {
  const { clock } = options;
  const entries = new LRUCache<string, Entry>({ max: 10_000 });
  return {
    recall: (key, freshness) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      const lifeMs = freshness === "revalidate" ? FIRST_MS : entry.lifeMs;
      return clock.monotonicMs() - entry.atMs < lifeMs ? entry.failure : undefined;
    },
    remember: (key, failure) => {
      if (!REPEATING.includes(failure.reason)) return;
      const atMs = clock.monotonicMs();
      const before = entries.get(key);
      const isConfirmed = before !== undefined && before.failure.reason === failure.reason &&
        atMs - before.atMs < FORGOTTEN_MS;
      entries.set(key, { failure, atMs, lifeMs: isConfirmed ? CONFIRMED_MS : FIRST_MS });
    },
    forget: (key) => void entries.delete(key),
  };
}
