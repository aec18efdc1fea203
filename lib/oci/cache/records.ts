// What the cache keeps of an image. Parsed on every read: a store is shared and outlives versions. Pure.
import * as z from "zod";
import type { Inspection, InspectionDepth } from "../types.ts";
import { CONTENT_DIGEST } from "../reference.ts";
import { weightOfTexts } from "../weights.ts";

/** Version of the stored records: raise it when their meaning changes, and old ones are ignored. */
export const RECORD_VERSION = 1;

const PlatformRecord = z.object({
  os: z.string(),
  architecture: z.string(),
  variant: z.string().exactOptional(),
  osVersion: z.string().exactOptional(),
});

const FindingRecord = z.object({
  kind: z.enum(["ChildDigestPin", "TruncatedIndex", "Schema1"]),
  message: z.string(),
});

const common = {
  digest: z.string().regex(CONTENT_DIGEST),
  mediaType: z.string().max(200),
  platforms: z.array(PlatformRecord).min(1).max(1_000),
  findings: z.array(FindingRecord).max(100),
};

export const DocumentSchema: z.ZodType<DocumentRecord> = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("platforms"), depth: z.enum(["index", "config"]), ...common }),
  z.object({ kind: z.literal("anywhere"), ...common }),
]);

export const TagSchema: z.ZodType<TagRecord> = z.object({ digest: common.digest, verifiedAtMs: z.number() });

/** What a digest identifies: an inspection that did not fail. It never changes. */
export type DocumentRecord = Exclude<Inspection, { readonly kind: "failed" }>;

export interface TagRecord {
  readonly digest: string;
  readonly verifiedAtMs: number;
}

/** The document with each (os, architecture, variant) once: what decisions read, whatever an index repeats. */
export function compactDocument(record: DocumentRecord): DocumentRecord {
  const distinct = new Map(record.platforms.map(({ os, architecture, variant }) => {
    const platform = { os, architecture, ...(variant === undefined ? {} : { variant }) };
    return [JSON.stringify([os, architecture, variant]), platform] as const;
  }));
  return { ...record, platforms: [...distinct.values()] };
}

export function isDeepEnough(record: DocumentRecord, depth: InspectionDepth): boolean {
  return record.kind === "anywhere" || depth === "index" || record.depth === "config";
}

export function weightOfDocument({ digest, mediaType, platforms, findings }: DocumentRecord, key: string): number {
  const ofPlatforms = platforms.reduce(
    (sum, { os, architecture, variant = "" }) => sum + weightOfTexts(os, architecture, variant),
    0,
  );
  const ofFindings = findings.reduce((sum, { message }) => sum + weightOfTexts(message), 0);
  return weightOfTexts(key, digest, mediaType) + ofPlatforms + ofFindings;
}
