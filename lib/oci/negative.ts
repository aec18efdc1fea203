// Failures that would only repeat themselves. The first failure of an image is shared for a moment, so that a burst of pods
// costs one request; the confirmation a second later passes through; once confirmed, it is remembered by class for longer.
import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";
import type { FailureReason, InspectionFailure } from "./types.ts";

/** The memory of failures. */
export interface NegativeCache {
  recall(key: string): InspectionFailure | undefined;
  remember(key: string, failure: InspectionFailure): void;
  forget(key: string): void;
}

/** Below the second after which a permanent failure is confirmed (ms). */
const FIRST_MS = 500;
/** How long a confirmed failure is believed (ms). Transient ones are not: the host's lane knows when to ask again. */
const CONFIRMED_MS: Partial<Readonly<Record<FailureReason, number>>> = {
  ManifestUnknown: 5_000,
  Unauthorized: 5_000,
  NotAnImage: 10_000,
  Malformed: 10_000,
  TooLarge: 10_000,
  AddressDenied: 5_000,
};
/** Failures further apart than this are two first ones (ms). */
const FORGOTTEN_MS = 120_000;

interface Entry {
  readonly failure: InspectionFailure;
  readonly atMs: number;
  readonly untilMs: number;
}

/** Opens an empty memory. */
export function openNegativeCache(options: { readonly clock: Clock }): NegativeCache {
  const { clock } = options;
  const entries = new LRUCache<string, Entry>({ max: 10_000 });
  return {
    recall: (key) => {
      const entry = entries.get(key);
      return entry !== undefined && clock.monotonicMs() < entry.untilMs ? entry.failure : undefined;
    },
    remember: (key, failure) => {
      const confirmedMs = CONFIRMED_MS[failure.reason];
      if (confirmedMs === undefined) return;
      const atMs = clock.monotonicMs();
      const before = entries.get(key);
      const isConfirmed = before !== undefined && before.failure.reason === failure.reason &&
        atMs - before.atMs < FORGOTTEN_MS;
      entries.set(key, { failure, atMs, untilMs: atMs + (isConfirmed ? confirmedMs : FIRST_MS) });
    },
    forget: (key) => void entries.delete(key),
  };
}
