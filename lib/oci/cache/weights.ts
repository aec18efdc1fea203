// How much memory the cache of images may take: entries are weighed, as registries decide how large they are.
import type { DocumentRecord } from "./records.ts";

/** Bytes, as weighed here, of all cached inspections in this process. */
export const MAX_CACHE_BYTES = 48 * 1024 * 1024;

export const CACHE_SHARES = {
  documents: MAX_CACHE_BYTES / 2,
  tags: MAX_CACHE_BYTES / 4,
  grants: MAX_CACHE_BYTES / 8,
  failures: MAX_CACHE_BYTES / 8,
} as const;

const OBJECT_BYTES = 120;

export function weightOfTexts(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, OBJECT_BYTES);
}

export function weightOfDocument({ digest, mediaType, platforms, findings }: DocumentRecord, key: string): number {
  const ofPlatforms = platforms.reduce(
    (sum, { os, architecture, variant = "" }) => sum + weightOfTexts(os, architecture, variant),
    0,
  );
  const ofFindings = findings.reduce((sum, { message }) => sum + weightOfTexts(message), 0);
  return weightOfTexts(key, digest, mediaType) + ofPlatforms + ofFindings;
}
