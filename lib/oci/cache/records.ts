// What the cache keeps of an image. It is parsed on every read, because a store is shared and outlives versions. Pure.
import * as z from "zod";
import type { ImageRecord, InspectionDepth } from "../inspection.ts";
import { CONTENT_DIGEST } from "../reference.ts";
import { weightOfTexts } from "../cache_limits.ts";

/** Version of the stored records: raise it when their meaning changes. Records of other versions are ignored. */
export const RECORD_VERSION = 1;

export const TagSchema = z.object({ digest: z.string().regex(CONTENT_DIGEST), verifiedAtMs: z.number() });

export type TagRecord = Readonly<z.output<typeof TagSchema>>;

export function isDeepEnough(record: ImageRecord, depth: InspectionDepth): boolean {
  return record.kind === "anywhere" || depth === "index" || record.depth === "config";
}

export function weightOfRecord({ digest, mediaType, platforms, findings }: ImageRecord, key: string): number {
  const ofPlatforms = platforms.reduce(
    (sum, { os, architecture, variant = "" }) => sum + weightOfTexts(os, architecture, variant),
    0,
  );
  const ofFindings = findings.reduce((sum, { message }) => sum + weightOfTexts(message), 0);
  return weightOfTexts(key, digest, mediaType) + ofPlatforms + ofFindings;
}
