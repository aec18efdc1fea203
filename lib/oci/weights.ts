// How much memory the cache of images may take: entries are weighed, as registries decide how large they are.

/** Bytes, as weighed here, of all cached inspections in this process. */
export const MAX_CACHE_BYTES = 48 * 1024 * 1024;

export const CACHE_SHARES = {
  documents: MAX_CACHE_BYTES / 2,
  tags: MAX_CACHE_BYTES / 4,
  readerships: MAX_CACHE_BYTES / 4,
} as const;

const OBJECT_BYTES = 120;

export function weightOfTexts(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, OBJECT_BYTES);
}
