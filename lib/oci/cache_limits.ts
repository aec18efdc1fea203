// How LRU caches are limited: how many entries, of what weight together, and for how long. Registries decide how large an
// entry is, so those of images are weighed.
import type { Clock } from "../clock.ts";

/** Options of an LRU cache with at most `entries`. Its option `max` would allocate 24 bytes for each at the start. */
export function atMost(entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}

/** As {@link atMost}, for entries that are weighed as well: each takes at least its share. */
export function atMostWeighed<V>(
  entries: number,
  { maxSize, weigh }: { readonly maxSize: number; readonly weigh: (value: V, key: string) => number },
): { readonly maxSize: number; readonly sizeCalculation: (value: V, key: string) => number } {
  const share = Math.floor(maxSize / entries);
  return { maxSize: share * entries, sizeCalculation: (value, key) => Math.max(share, weigh(value, key)) };
}

/** Options of an LRU cache whose entries live (`ttl`) by this clock. With another resolution it keeps a timer. */
export function livingBy(
  clock: Pick<Clock, "monotonicMs">,
): { readonly ttlResolution: 0; readonly perf: { readonly now: () => number } } {
  // The cache takes a time of 0 for none.
  return { ttlResolution: 0, perf: { now: () => clock.monotonicMs() + 1 } };
}

/** Bytes, as weighed here, of all cached inspections in this process. */
export const MAX_CACHE_BYTES = 48 * 1024 * 1024;

export const CACHE_SHARES = {
  records: MAX_CACHE_BYTES / 2,
  tags: MAX_CACHE_BYTES / 4,
  readerships: MAX_CACHE_BYTES / 4,
} as const;

const OBJECT_BYTES = 120;

export function weightOfTexts(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, OBJECT_BYTES);
}
