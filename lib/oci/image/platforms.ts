// From the entries of an index, or the config of a single image, to platforms.
import type { Platform } from "../types.ts";
import { type Descriptor, isIndexType } from "./manifest.ts";

/** Annotations that mark an entry as being about another one (attestations, signatures), not an image to run. */
const NOT_AN_IMAGE = ["vnd.docker.reference.type", "vnd.docker.reference.digest"];

/** Config labels of operator bundles: images that hold data and run nowhere, so they narrow nothing. */
const BUNDLE_LABELS = [
  "operators.operatorframework.io.metrics.builder",
  "operators.operatorframework.io.bundle.mediatype.v1",
  "operators.operatorframework.io.bundle.manifests.v1",
  "operators.operatorframework.io.bundle.metadata.v1",
  "operators.operatorframework.io.bundle.package.v1",
  "operators.operatorframework.io.bundle.channels.v1",
  "operators.operatorframework.io.bundle.channel.default.v1",
];

/** Whether an index entry is an image that names its platform: no attestation, nothing missing or `unknown`. */
export function isPlatformEntry(entry: Descriptor): entry is Descriptor & { readonly platform: Platform } {
  if (NOT_AN_IMAGE.some((key) => Object.hasOwn(entry.annotations, key))) return false;
  const { platform } = entry;
  return platform !== undefined && platform.architecture !== "" && platform.architecture !== "unknown";
}

/** Runtimes read the platform from the config then. Entries about another one, artifacts and indexes are no images. */
export function isEntryWithoutPlatform({ annotations, platform, mediaType, isArtifact }: Descriptor): boolean {
  const isAbout = NOT_AN_IMAGE.some((key) => Object.hasOwn(annotations, key));
  return platform === undefined && !isAbout && !isArtifact && /manifest\.v[12]\+/.test(mediaType);
}

export function isNestedIndex({ platform, mediaType }: Descriptor): boolean {
  return platform === undefined && isIndexType(mediaType);
}

export function distinctPlatforms(platforms: readonly Platform[]): readonly Platform[] {
  return [...new Map(platforms.toReversed().map((platform) => [platformKey(platform), platform])).values()]
    .toReversed();
}

export function platformsOf(entries: readonly Descriptor[]): readonly Platform[] {
  return distinctPlatforms(entries.filter(isPlatformEntry).map(({ platform }) => platform));
}

/** `linux/arm/v7`: one spelling a platform. */
export function renderPlatform({ os, architecture, variant }: Platform): string {
  return [os, architecture, variant].filter((part) => part !== undefined && part !== "").join("/");
}

/** Whether config labels are those of an operator bundle; values do not matter. */
export function isBundle(labels: Readonly<Record<string, unknown>>): boolean {
  return BUNDLE_LABELS.some((key) => Object.hasOwn(labels, key));
}

function platformKey(platform: Platform): string {
  return `${renderPlatform(platform)} ${platform.osVersion ?? ""}`;
}
