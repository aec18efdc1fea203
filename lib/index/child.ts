// Judges the images that are to be joined: what the documents behind a reference mean, and which platform an image says that
// it is for. Its own config counts, not what an index says of it.
import { listAt } from "../json.ts";
import { parseSparseObject } from "../json_density.ts";
import { type ManifestDocument, parseImageConfig, renderMediaType } from "../oci/image/manifest.ts";
import { isEntryWithoutPlatform, isNestedIndex, isPlatformEntry, renderPlatform } from "../oci/image/platforms.ts";
import type { Platform } from "../oci/types.ts";

/** The platform of an image, with what an index says besides. */
export type ImagePlatform = Platform & {
  /** `win32k`; sorted, absent when there are none. */
  readonly osFeatures?: readonly string[];
};

/** Whether an image is of the OCI's form or of Docker's. */
export type ImageForm = "oci" | "docker";

/** An image that is well, and what an index says of it. */
export interface ChildImage {
  /** As a person wrote it. */
  readonly image: string;
  readonly digest: string;
  /** Of its manifest. */
  readonly mediaType: string;
  /** Bytes of its manifest. */
  readonly size: number;
  readonly form: ImageForm;
  readonly platform: ImagePlatform;
}

/** Why an image cannot be joined. */
export const CHILD_PROBLEMS = [
  "NotAnImage",
  "SeveralImages",
  "NestedIndex",
  "Schema1",
  "NoPlatform",
  "Malformed",
  "DuplicatePlatform",
  "TooMany",
] as const;

/** A child that cannot be joined as it is. */
export interface ChildProblem {
  readonly kind: "problem";
  readonly reason: typeof CHILD_PROBLEMS[number];
  /** What is wrong, going on after the name of the image; and what to do. */
  readonly state: string;
}

/** What the document behind a reference is. */
export type ChildDocument =
  | { readonly kind: "image"; readonly config: string; readonly mediaType: string; readonly form: ImageForm }
  /** An index of one image beside attestations: that one is meant. */
  | { readonly kind: "inner"; readonly digest: string }
  | ChildProblem;

/** What an image's config says. */
export type ChildConfig = { readonly kind: "platform"; readonly platform: ImagePlatform } | ChildProblem;

/** Judges a manifest. `isInner`: it was found in an index already. */
export function judgeDocument(
  manifest: ManifestDocument,
  { isInner }: { readonly isInner: boolean },
): ChildDocument {
  switch (manifest.kind) {
    case "unparsable":
      return problem("Malformed", manifest.problem);
    case "schema1":
      return problem("Schema1", "it has a schema 1 manifest, which current runtimes refuse. Build it anew");
    case "manifest": {
      const { config, isImage, mediaType } = manifest;
      if (!isImage) {
        return problem("NotAnImage", `it is no image: the type of its config is ${renderMediaType(config.mediaType)}`);
      }
      return { kind: "image", config: config.digest, mediaType, form: mediaType.includes("docker") ? "docker" : "oci" };
    }
    case "index":
      return isInner ? problem("NestedIndex", "its index holds another index") : judgeIndex(manifest);
  }
}

function judgeIndex({ entries }: Extract<ManifestDocument, { kind: "index" }>): ChildDocument {
  if (entries.some(isNestedIndex)) {
    return problem("NestedIndex", "it is an index that holds indexes. Name the image that you mean by its digest");
  }
  const images = entries.filter((entry) => isPlatformEntry(entry) || isEntryWithoutPlatform(entry));
  const [first] = images;
  if (first === undefined) return problem("NotAnImage", "it is an index without an image");
  if (images.length === 1) return { kind: "inner", digest: first.digest };
  const named = images.slice(0, MAX_SHOWN).map(({ platform, digest }) =>
    `${platform === undefined ? "no platform" : renderPlatform(platform)} ${digest}`
  );
  const more = images.length > MAX_SHOWN ? ", …" : "";
  const advice = "Name the one that you mean by its digest";
  return problem(
    "SeveralImages",
    `it is an index of ${images.length} images (${named.join(", ")}${more}). ${advice}`,
  );
}

const MAX_SHOWN = 8;
const MAX_FEATURES = 16;

/** Judges an image config. */
export function judgeConfig(text: string): ChildConfig {
  const config = parseImageConfig(text);
  if (config.kind === "unparsable") return problem("NoPlatform", config.problem);
  if (config.platform.os === "") return problem("NoPlatform", "its config names no operating system");
  const features = (listAt(parseSparseObject(text), "os.features") ?? []).filter((name) => typeof name === "string")
    .slice(0, MAX_FEATURES).toSorted();
  const platform = features.length === 0 ? config.platform : { ...config.platform, osFeatures: features };
  return { kind: "platform", platform };
}

function problem(reason: ChildProblem["reason"], state: string): ChildProblem {
  return { kind: "problem", reason, state };
}
