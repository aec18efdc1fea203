// Judges images to join, and entries of an index, by the image's own config, not by the index.
import { textEntries } from "../../json.ts";
import {
  type ConfigDocument,
  type Descriptor,
  type ManifestDocument,
  renderMediaType,
} from "../../oci/image/manifest.ts";
import { isEntryWithoutPlatform, isNestedIndex, isPlatformEntry, renderPlatform } from "../../oci/image/platforms.ts";
import type { Platform } from "../../oci/inspection.ts";

export type ImagePlatform = Platform & {
  readonly osVersion?: string;
  /** Such as `win32k`; sorted, absent when empty. */
  readonly osFeatures?: readonly string[];
};

export type ImageForm = "oci" | "docker";

export interface ChildImage {
  readonly image: string;
  readonly digest: string;
  readonly mediaType: string;
  readonly size: number;
  readonly form: ImageForm;
  readonly platform: ImagePlatform;
}

export const CHILD_PROBLEMS = [
  "NotAnImage",
  "SeveralImages",
  "NestedIndex",
  "Schema1",
  "NoPlatform",
  "Malformed",
  "DuplicatePlatform",
  "OtherImage",
] as const;

export interface ChildProblem {
  readonly kind: "problem";
  readonly reason: typeof CHILD_PROBLEMS[number];
  /** What is wrong and what to do, continuing after the image's name. */
  readonly state: string;
}

interface ImageManifest {
  readonly kind: "image";
  readonly manifest: Extract<ManifestDocument, { kind: "manifest" }>;
  readonly form: ImageForm;
}

interface InnerImage {
  readonly kind: "inner";
  readonly digest: string;
}

export interface ChildConfig {
  readonly kind: "config";
  readonly platform: ImagePlatform;
  readonly labels: Readonly<Record<string, string>>;
}

export function judgeDocument(document: ManifestDocument): ImageManifest | InnerImage | ChildProblem {
  return document.kind === "index" ? judgeIndex(document) : judgeManifest(document);
}

export function judgeManifest(manifest: ManifestDocument): ImageManifest | ChildProblem {
  switch (manifest.kind) {
    case "unparsable":
      return problem("Malformed", manifest.fault.message);
    case "schema1":
      return problem("Schema1", "it has a schema 1 manifest, which current runtimes refuse. Build it anew");
    case "index":
      return problem("NestedIndex", "its index holds another index");
    case "manifest": {
      const { config, isImage, mediaType } = manifest;
      if (isImage) return { kind: "image", manifest, form: mediaType.includes("docker") ? "docker" : "oci" };
      return problem("NotAnImage", `it is no image: the type of its config is ${renderMediaType(config.mediaType)}`);
    }
  }
}

function judgeIndex({ entries }: Extract<ManifestDocument, { kind: "index" }>): InnerImage | ChildProblem {
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

export function judgeConfig(config: ConfigDocument): ChildConfig | ChildProblem {
  if (config.kind === "unparsable") return problem("NoPlatform", config.fault.message);
  const { platform, labels, osVersion, osFeatures } = config;
  if (platform.os === "") return problem("NoPlatform", "its config names no operating system");
  const whole = {
    ...platform,
    ...osVersion === "" ? {} : { osVersion },
    ...osFeatures.length === 0 ? {} : { osFeatures },
  };
  return { kind: "config", platform: whole, labels: textEntries(labels, () => true) };
}

function problem(reason: ChildProblem["reason"], state: string): ChildProblem {
  return { kind: "problem", reason, state };
}

export type EntryKind = "image" | "attestation" | "other";

export interface EntryFinding {
  readonly kind: "Unreadable" | "PlatformMismatch" | "NoPlatform";
  readonly message: string;
}

/** Classifies an entry by its own fields: attestations are marked, or have the platform `unknown`. */
export function kindOfEntry(entry: Descriptor): EntryKind {
  if (Object.hasOwn(entry.annotations, "vnd.docker.reference.type")) return "attestation";
  if (entry.platform?.architecture === "unknown") return "attestation";
  return isPlatformEntry(entry) || !entry.isArtifact && /manifest\.v[12]\+/.test(entry.mediaType) ? "image" : "other";
}

export function checkEntry({ digest, platform }: Descriptor, own: ImagePlatform): readonly EntryFinding[] {
  const said = renderPlatform(own);
  if (platform === undefined) {
    return [{ kind: "NoPlatform", message: `${digest} has no platform in the index; its config says ${said}.` }];
  }
  if (isSame(platform, own)) return [];
  const message = `The index says ${renderPlatform(platform)} for ${digest}, its config says ${said}.`;
  return [{ kind: "PlatformMismatch", message }];
}

/** Index and config may each omit the variant, but must otherwise agree. */
function isSame(named: Platform, own: ImagePlatform): boolean {
  const isVariant = own.variant === undefined || named.variant === undefined || own.variant === named.variant;
  return named.os === own.os && named.architecture === own.architecture && isVariant;
}
