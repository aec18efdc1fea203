// Platforms from the entries of an index, or from the config of a single image.
import type { Platform } from "../inspection.ts";
import { type Descriptor, isIndexType } from "./manifest.ts";

/** Annotations of entries that describe another entry (attestations, signatures) and cannot run. */
const NOT_AN_IMAGE = ["vnd.docker.reference.type", "vnd.docker.reference.digest"];

/** Config labels of operator bundles: data images that never run, so they narrow nothing. */
const BUNDLE_LABELS = [
  "operators.operatorframework.io.metrics.builder",
  "operators.operatorframework.io.bundle.mediatype.v1",
  "operators.operatorframework.io.bundle.manifests.v1",
  "operators.operatorframework.io.bundle.metadata.v1",
  "operators.operatorframework.io.bundle.package.v1",
  "operators.operatorframework.io.bundle.channels.v1",
  "operators.operatorframework.io.bundle.channel.default.v1",
];

/** Whether an index entry is an image with a known platform, and no attestation. */
export function isPlatformEntry(entry: Descriptor): entry is Descriptor & { readonly platform: Platform } {
  if (NOT_AN_IMAGE.some((key) => Object.hasOwn(entry.annotations, key))) return false;
  const { platform } = entry;
  return platform !== undefined && platform.architecture !== "" && platform.architecture !== "unknown";
}

/** Whether an entry is an image whose platform only its config names: no attestation, artifact or index. */
export function isEntryWithoutPlatform({ annotations, platform, mediaType, isArtifact }: Descriptor): boolean {
  const isAbout = NOT_AN_IMAGE.some((key) => Object.hasOwn(annotations, key));
  return platform === undefined && !isAbout && !isArtifact && /manifest\.v[12]\+/.test(mediaType);
}

export function isNestedIndex({ platform, mediaType }: Descriptor): boolean {
  return platform === undefined && isIndexType(mediaType);
}

export function distinctPlatforms(platforms: readonly Platform[]): readonly Platform[] {
  return [...new Map(platforms.toReversed().map((platform) => [renderPlatform(platform), platform])).values()]
    .toReversed();
}

export function platformsOf(entries: readonly Descriptor[]): readonly Platform[] {
  return distinctPlatforms(entries.filter(isPlatformEntry).map(({ platform }) => platform));
}

/** Those of Linux. An index may leave the operating system out. */
export function linuxArchitectures(platforms: readonly Platform[]): readonly string[] {
  return platforms.filter(({ os }) => os === "linux" || os === "").map(({ architecture }) => architecture);
}

/** `linux/arm/v7`: one spelling for each platform. */
export function renderPlatform({ os, architecture, variant }: Platform): string {
  return [os, architecture, variant].filter((part) => part !== undefined && part !== "").join("/");
}

/** Whether config labels are those of an operator bundle; values do not matter. */
export function isBundle(labels: Readonly<Record<string, unknown>>): boolean {
  return BUNDLE_LABELS.some((key) => Object.hasOwn(labels, key));
}
