// Limits of LRU caches: the number, the total weight and the life of their entries. Entries of images are weighed,
// because registries decide how large they are.
import type { Clock } from "../clock.ts";

/**
 * Options of an LRU cache with at most `entries`. Its option `max` allocates 24 bytes an entry at the start, which counts
 * from ten thousand on.
 */
export function atMost(entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}

/** Like {@link atMost}, for entries that are also weighed. Each weighs at least an equal share of `maxSize`. */
export function atMostWeighed<V>(
  entries: number,
  { maxSize, weigh }: { readonly maxSize: number; readonly weigh: (value: V, key: string) => number },
): { readonly maxSize: number; readonly sizeCalculation: (value: V, key: string) => number } {
  const share = Math.floor(maxSize / entries);
  return { maxSize: share * entries, sizeCalculation: (value, key) => Math.max(share, weigh(value, key)) };
}

/** Options of an LRU cache that measures `ttl` by this clock. With another `ttlResolution` it would keep a timer. */
export function livingBy(
  clock: Pick<Clock, "monotonicMs">,
): { readonly ttlResolution: 0; readonly perf: { readonly now: () => number } } {
  // The cache treats a time of 0 as no time.
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
