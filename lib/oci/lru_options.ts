// Options of LRU caches: how many entries, of what weight together, and for how long.
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
