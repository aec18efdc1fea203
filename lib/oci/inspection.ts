// What was found of an image, or why it could not be inspected. A record of what was found is stored, so it has a
// schema.
import * as z from "zod";
import type { RegistryFailure } from "./errors.ts";
import { CONTENT_DIGEST } from "./reference.ts";

/** One platform of an image, as its index or its config names it. Names are GOOS / GOARCH. */
const Platform = z.object({
  os: z.string(),
  architecture: z.string(),
  variant: z.string().exactOptional(),
}).readonly();

export type Platform = z.output<typeof Platform>;

const Finding = z.object({
  kind: z.enum(["ChildDigestPin", "TruncatedIndex", "Schema1", "FailedArchitecture"]),
  message: z.string(),
}).readonly();

export type Finding = z.output<typeof Finding>;

/** `index`: the top document suffices. `config`: the first platform's config is read too, to see bundle labels. */
const InspectionDepth = z.enum(["index", "config"]);

export type InspectionDepth = z.output<typeof InspectionDepth>;

const common = {
  digest: z.string().regex(CONTENT_DIGEST),
  mediaType: z.string().max(200),
  /** Without `unknown` platforms and those of attestations. */
  platforms: z.array(Platform).min(1).max(1_000).readonly(),
  findings: z.array(Finding).max(100).readonly(),
};

/** What was found of the image that a digest identifies. The image of a digest never changes. */
export const ImageRecord = z.discriminatedUnion("kind", [
  /** `depth`: `config` when a config blob was read, so that bundle labels are known; else only the index was read. */
  z.object({ kind: z.literal("platforms"), depth: InspectionDepth, ...common }),
  /** An operator bundle: data that never runs, so it narrows nothing. */
  z.object({ kind: z.literal("anywhere"), ...common }),
]).readonly();

export type ImageRecord = z.output<typeof ImageRecord>;

export type Inspection = ImageRecord | { readonly kind: "failed"; readonly failure: RegistryFailure };

export interface ImageUse {
  readonly image: string;
  /** The pull policy is `Always`: the tag is looked up again for every pod. */
  readonly pullsAlways: boolean;
}

export interface InspectedImage {
  readonly image: string;
  readonly inspection: Inspection;
}
