// Reads one image at one endpoint: the top manifest, and those of its children and configs that are needed.
import { type FailureReason, RegistryError, registryError } from "./errors.ts";
import type { Finding, Inspection, InspectionDepth, Platform } from "./inspection.ts";
import { type Descriptor, type ImageLabels, type ManifestDocument, MAX_ENTRIES } from "./image/manifest.ts";
import {
  distinctPlatforms,
  isBundle,
  isEntryWithoutPlatform,
  isNestedIndex,
  isPlatformEntry,
  platformsOf,
} from "./image/platforms.ts";
import type { Endpoint } from "./endpoint.ts";
import { renderReference } from "./reference.ts";
import type { RepositoryDocuments } from "./repository_documents.ts";

interface ImageDocuments extends Pick<RepositoryDocuments, "manifest" | "child" | "config"> {
  readonly endpoint: Endpoint;
}

export interface ImageRead {
  readonly inspection: Inspection;
  /**
   * Whether the endpoint lacks a manifest that the image's index lists and that was needed. Such a read says nothing
   * about the image at other endpoints.
   */
  readonly lacksManifest: boolean;
}

type SingleManifest = Extract<ManifestDocument, { kind: "manifest" | "schema1" }>;

interface ImageConfig {
  readonly platform: Platform;
  readonly labels: ImageLabels;
}

interface EntriesRead extends Pick<ImageRead, "lacksManifest"> {
  readonly configs: readonly ImageConfig[];
  readonly findings: readonly Finding[];
}

/** Most nested indexes of an image: each costs a request, and builders make no more. */
const MAX_NESTED = 4;

/** Entries without platform whose configs are read: each costs two requests, one after the other. */
const MAX_ENTRIES_WITHOUT_PLATFORM = 8;

/** More platforms than any image has; they are kept in memory for every image. */
const MAX_PLATFORMS = 64;

const SCHEMA1: Finding = {
  kind: "Schema1",
  message: "The image has a schema 1 manifest, which current container runtimes refuse to pull.",
};

export async function readImage(documents: ImageDocuments, depth: InspectionDepth): Promise<ImageRead> {
  const { manifest, digest } = await documents.manifest(documents.endpoint.identifier);
  if (manifest.kind === "unparsable") throw imageError(documents, "Malformed", manifest.fault.message);
  if (manifest.kind === "index") return await readIndex(documents, manifest, { digest, depth });
  const { platform, labels } = await readSingle(documents, manifest);
  const { mediaType } = manifest;
  const findings = manifest.kind === "schema1" ? [SCHEMA1] : [];
  const inspection = inspectionBy(labels, { digest, mediaType, platforms: [platform], findings });
  return { inspection, lacksManifest: false };
}

async function readIndex(
  documents: ImageDocuments,
  { mediaType, entries: listed }: Extract<ManifestDocument, { kind: "index" }>,
  { digest, depth }: { readonly digest: string; readonly depth: InspectionDepth },
): Promise<ImageRead> {
  const entries = await unfold(documents, listed);
  const { configs, findings, lacksManifest } = await readEntriesWithoutPlatform(documents, entries);
  const platforms = distinctPlatforms([...platformsOf(entries), ...configs.map(({ platform }) => platform)]);
  if (platforms.length === 0) throw imageError(documents, "NotAnImage", "its index names no platform");
  if (platforms.length > MAX_PLATFORMS) {
    throw imageError(documents, "Malformed", `its index names more than ${MAX_PLATFORMS} platforms`);
  }
  const found = { digest, mediaType, platforms, findings };
  const [first] = entries.filter(isPlatformEntry);
  if (first !== undefined && depth === "index") {
    return { inspection: { kind: "platforms", ...found, depth: "index" }, lacksManifest };
  }
  const labels = first === undefined ? configs[0]?.labels : (await readChild(documents, first)).labels;
  return { inspection: inspectionBy(labels ?? {}, found), lacksManifest };
}

/** The inspection of an image that was read: `anywhere` when its labels are those of a bundle. */
function inspectionBy(labels: ImageLabels, found: Omit<Extract<Inspection, { kind: "anywhere" }>, "kind">): Inspection {
  return isBundle(labels) ? { kind: "anywhere", ...found } : { kind: "platforms", ...found, depth: "config" };
}

/**
 * Replaces indexes within the index by their entries, one level deep. An index that cannot be replaced is a failure, so
 * that no platform is missed.
 */
async function unfold(documents: ImageDocuments, entries: readonly Descriptor[]): Promise<readonly Descriptor[]> {
  const nested = entries.filter(isNestedIndex);
  if (nested.length > MAX_NESTED) {
    throw imageError(documents, "Malformed", `its index holds more than ${MAX_NESTED} indexes`);
  }
  const unfolded: Descriptor[] = [];
  for (const entry of entries) {
    if (!isNestedIndex(entry)) {
      unfolded.push(entry);
      continue;
    }
    const { manifest: inner } = await documents.child(entry.digest);
    if (inner.kind !== "index") {
      throw imageError(documents, "Malformed", "an entry that its index calls an index is not one");
    }
    if (inner.entries.some(isNestedIndex)) {
      throw imageError(documents, "Malformed", "its index nests indexes more than once");
    }
    unfolded.push(...inner.entries);
  }
  if (unfolded.length > MAX_ENTRIES) {
    throw imageError(documents, "Malformed", `its indexes list more than ${MAX_ENTRIES} manifests`);
  }
  return unfolded;
}

/** The configs of entries that name no platform, without those of entries that are not images. */
async function readEntriesWithoutPlatform(
  documents: ImageDocuments,
  entries: readonly Descriptor[],
): Promise<EntriesRead> {
  const withoutPlatform = entries.filter(isEntryWithoutPlatform);
  const configs: ImageConfig[] = [];
  const findings: Finding[] = [];
  let lacksManifest = false;
  for (const entry of withoutPlatform.slice(0, MAX_ENTRIES_WITHOUT_PLATFORM)) {
    try {
      configs.push(await readChild(documents, entry));
    } catch (error) {
      const reason = error instanceof RegistryError ? error.failure.reason : undefined;
      if (reason === "NotAnImage") continue;
      if (reason !== "ManifestUnknown") throw error;
      lacksManifest = true;
      const message = `The index lists ${entry.digest} without a platform, but ${documents.endpoint.host} lacks it.`;
      findings.push({ kind: "TruncatedIndex", message });
    }
  }
  if (withoutPlatform.length > MAX_ENTRIES_WITHOUT_PLATFORM) {
    const message =
      `The index lists ${withoutPlatform.length} manifests without a platform; ${MAX_ENTRIES_WITHOUT_PLATFORM} of them were read.`;
    findings.push({ kind: "TruncatedIndex", message });
  }
  return { configs, findings, lacksManifest };
}

async function readChild(documents: ImageDocuments, entry: Descriptor): Promise<ImageConfig> {
  const { manifest } = await documents.child(entry.digest);
  if (manifest.kind === "unparsable" || manifest.kind === "index") {
    throw imageError(documents, "Malformed", "its child is not a manifest");
  }
  return await readSingle(documents, manifest);
}

async function readSingle(documents: ImageDocuments, manifest: SingleManifest): Promise<ImageConfig> {
  const config = await documents.config(manifest);
  if (config.kind === "unparsable") throw imageError(documents, "NotAnImage", config.fault.message);
  return config;
}

function imageError({ endpoint }: ImageDocuments, reason: FailureReason, problem: string): RegistryError {
  const verb = reason === "NotAnImage" ? "run" : "read image";
  return registryError(reason, `Cannot ${verb} "${renderReference(endpoint)}": ${problem}.`, {
    registry: endpoint.host,
  });
}
