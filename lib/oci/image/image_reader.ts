// Reads one image at one endpoint: the top manifest, and of its children and configs what is wanted. A tag or digest of an
// index costs one request, a single image two.
import type { Credential } from "../credential.ts";
import type { RegistryDocument } from "./document.ts";
import { InspectionError, inspectionError } from "../errors.ts";
import { findingsOfReference } from "./findings.ts";
import {
  type ConfigDocument,
  type Descriptor,
  type Labels,
  type ManifestDocument,
  MAX_ENTRIES,
  renderMediaType,
} from "./manifest.ts";
import {
  distinctPlatforms,
  isBundle,
  isEntryWithoutPlatform,
  isNestedIndex,
  isPlatformEntry,
  platformsOf,
  renderPlatform,
} from "./platforms.ts";
import type { Endpoint } from "../pull_plan.ts";
import { canonicalReference, parseReference } from "../reference.ts";
import type { FailureReason, Finding, Inspection, InspectionDepth, Platform } from "../types.ts";

/** Reads and parses documents of one repository; throws InspectionError. */
export interface DocumentReader {
  /** The manifest or index behind a tag or digest. */
  manifest(reference: string): Promise<TopDocument>;
  /** A manifest or index that an index lists, by its digest. */
  child(digest: string): Promise<ManifestDocument>;
  /** A config by its digest. */
  blob(digest: string): Promise<ConfigDocument>;
}

/** A manifest or index, its digest, and the credential that it took. */
export interface TopDocument extends Pick<RegistryDocument, "digest" | "credential"> {
  readonly manifest: ManifestDocument;
}

/** Which image, and how to read documents of its repository. */
export interface ImageVisit {
  /** As the user wrote it. */
  readonly image: string;
  /** Where it is read. */
  readonly endpoint: Endpoint;
  /** How much must be known. */
  readonly depth: InspectionDepth;
  /** Also read all configs of an index and compare. */
  readonly checkConfigs: boolean;
  /** Reads manifests and blobs there. */
  readonly session: DocumentReader;
}

/** The inspection of an image, and the credential that its top manifest took. */
export interface ImageRead {
  /** Never a failure: those are thrown. */
  readonly inspection: Inspection;
  /** undefined when none was needed. */
  readonly credential: Credential | undefined;
  /** Whether the endpoint lacks what the image's index lists and was wanted: then this says nothing of the image elsewhere. */
  readonly isPartial: boolean;
}

type SingleManifest = Extract<ManifestDocument, { kind: "manifest" | "schema1" }>;

interface Config {
  readonly platform: Platform;
  readonly labels: Labels;
}

/** Nested indexes that are followed: each costs a request, and builders make no more. */
const MAX_NESTED = 4;

/** Entries without platform whose configs are read: each costs two requests, one after the other. */
const MAX_ENTRIES_WITHOUT_PLATFORM = 8;

/** Of those, how many at a time: each holds a document in memory, and many images are read at a time. */
const READ_AT_ONCE = 2;

/** More platforms than any image has; they are kept in memory for every image. */
const MAX_PLATFORMS = 64;

/** Entries compared at most with their configs: each costs two requests, one after the other. */
const MAX_COMPARED = 32;

/** Reads the image. Throws InspectionError. */
export async function readImage(visit: ImageVisit): Promise<ImageRead> {
  const { manifest, digest, credential } = await visit.session.manifest(visit.endpoint.reference);
  if (manifest.kind === "unparsable") throw failed(visit, "Malformed", manifest.problem);
  if (manifest.kind === "index") {
    const missing = new Set<string>();
    const inspection = await readIndex(visit, { manifest, digest, missing });
    return { inspection, credential, isPartial: missing.size > 0 };
  }
  const { platform, labels } = await readSingle(visit, manifest);
  const findings = findingsOf(visit, manifest);
  const common = { digest, mediaType: manifest.mediaType, platforms: [platform], findings };
  const inspection: Inspection = isBundle(labels)
    ? { kind: "anywhere", ...common }
    : { kind: "platforms", ...common, depth: "config" };
  return { inspection, credential, isPartial: false };
}

/** Adds the digests of entries that the endpoint lacks to `missing`. */
async function readIndex(
  visit: ImageVisit,
  { manifest, digest, missing }: {
    readonly manifest: Extract<ManifestDocument, { kind: "index" }>;
    readonly digest: string;
    readonly missing: Set<string>;
  },
): Promise<Inspection> {
  const { mediaType } = manifest;
  const entries = await unfold(visit, manifest.entries);
  const others = await readEntriesWithoutPlatform(visit, { entries, missing });
  const platforms = distinctPlatforms([...platformsOf(entries), ...others.configs.map(({ platform }) => platform)]);
  if (platforms.length === 0) throw failed(visit, "NotAnImage", "its index names no platform");
  if (platforms.length > MAX_PLATFORMS) {
    throw failed(visit, "Malformed", `its index names more than ${MAX_PLATFORMS} platforms`);
  }
  const compared = visit.checkConfigs ? await compareConfigs(visit, { entries, missing }) : [];
  const common = { digest, mediaType, platforms, findings: [...others.findings, ...compared] };
  const [first] = entries.filter(isPlatformEntry);
  const isDeep = visit.depth === "config" || looksLikeBundle(visit.image) || visit.checkConfigs;
  if (first !== undefined && !isDeep) return { kind: "platforms", ...common, depth: "index" };
  // A mirror that lacks the first child has been found out above; its labels are nowhere to be read.
  const isGone = first !== undefined && missing.has(first.digest);
  const labels = first === undefined ? others.configs[0]?.labels : isGone ? {} : (await readChild(visit, first)).labels;
  if (isBundle(labels ?? {})) return { kind: "anywhere", ...common };
  return { kind: "platforms", ...common, depth: "config" };
}

/** Indexes within the index, one level deep and few of them, opened in place. What is not followed is a failure, not less. */
async function unfold(visit: ImageVisit, entries: readonly Descriptor[]): Promise<readonly Descriptor[]> {
  const nested = entries.filter(isNestedIndex);
  if (nested.length > MAX_NESTED) throw failed(visit, "Malformed", `its index holds more than ${MAX_NESTED} indexes`);
  const unfolded: Descriptor[] = [];
  for (const entry of entries) {
    if (!isNestedIndex(entry)) {
      unfolded.push(entry);
      continue;
    }
    const inner = await visit.session.child(entry.digest);
    if (inner.kind !== "index") throw failed(visit, "Malformed", "an entry that its index calls an index is not one");
    if (inner.entries.some(isNestedIndex)) throw failed(visit, "Malformed", "its index nests indexes more than once");
    unfolded.push(...inner.entries);
  }
  if (unfolded.length > MAX_ENTRIES) {
    throw failed(visit, "Malformed", `its indexes list more than ${MAX_ENTRIES} manifests`);
  }
  return unfolded;
}

/** The configs of entries that name no platform, as far as they are images. */
async function readEntriesWithoutPlatform(
  visit: ImageVisit,
  { entries, missing }: { readonly entries: readonly Descriptor[]; readonly missing: Set<string> },
): Promise<{ readonly configs: readonly Config[]; readonly findings: readonly Finding[] }> {
  const withoutPlatform = entries.filter(isEntryWithoutPlatform);
  const findings: Finding[] = [];
  const read = async (entry: Descriptor): Promise<readonly Config[]> => {
    try {
      return [await readChild(visit, entry)];
    } catch (error) {
      const reason = error instanceof InspectionError ? error.failure.reason : undefined;
      if (reason === "NotAnImage") return [];
      if (reason !== "ManifestUnknown") throw error;
      missing.add(entry.digest);
      const message = `The index lists ${entry.digest} without a platform, but ${visit.endpoint.host} lacks it.`;
      findings.push({ kind: "TruncatedIndex", message });
      return [];
    }
  };
  const wanted = withoutPlatform.slice(0, MAX_ENTRIES_WITHOUT_PLATFORM);
  const configs: Config[] = [];
  for (let at = 0; at < wanted.length; at += READ_AT_ONCE) {
    configs.push(...(await Promise.all(wanted.slice(at, at + READ_AT_ONCE).map(read))).flat());
  }
  if (withoutPlatform.length > MAX_ENTRIES_WITHOUT_PLATFORM) {
    const message =
      `The index lists ${withoutPlatform.length} manifests without a platform; ${MAX_ENTRIES_WITHOUT_PLATFORM} of them were read.`;
    findings.push({ kind: "TruncatedIndex", message });
  }
  return { configs, findings };
}

async function readChild(visit: ImageVisit, entry: Descriptor): Promise<Config> {
  const manifest = await visit.session.child(entry.digest);
  if (manifest.kind === "unparsable" || manifest.kind === "index") {
    throw failed(visit, "Malformed", "its child is not a manifest");
  }
  return await readSingle(visit, manifest);
}

async function readSingle(visit: ImageVisit, manifest: SingleManifest): Promise<Config> {
  if (manifest.kind === "schema1") return manifest;
  if (!manifest.isImage) {
    throw failed(visit, "NotAnImage", `the type of its config is ${renderMediaType(manifest.config.mediaType)}`);
  }
  const config = await visit.session.blob(manifest.config.digest);
  if (config.kind === "unparsable") throw failed(visit, "NotAnImage", config.problem);
  return config;
}

/** The opt-in check: an index may say one architecture and the image's own config another. */
async function compareConfigs(
  visit: ImageVisit,
  { entries, missing }: { readonly entries: readonly Descriptor[]; readonly missing: Set<string> },
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const comparable = entries.filter(isPlatformEntry);
  if (comparable.length > MAX_COMPARED) {
    const message = `The index lists ${comparable.length} manifests with a platform; ` +
      `${MAX_COMPARED} of them were compared with their configs.`;
    findings.push({ kind: "TruncatedIndex", message });
  }
  for (const { digest, platform: named, ...entry } of comparable.slice(0, MAX_COMPARED)) {
    try {
      const { platform } = await readChild(visit, { ...entry, digest });
      if (platform.architecture === named.architecture) continue;
      const message = `The index says ${renderPlatform(named)} for ${digest}, its config says ${
        renderPlatform(platform)
      }.`;
      findings.push({ kind: "ArchitectureMismatch", message });
    } catch (error) {
      if (!(error instanceof InspectionError) || error.failure.reason !== "ManifestUnknown") throw error;
      missing.add(digest);
      const message = `The index lists ${renderPlatform(named)} (${digest}), but ${visit.endpoint.host} lacks it.`;
      findings.push({ kind: "TruncatedIndex", message });
    }
  }
  return findings;
}

function findingsOf({ image }: ImageVisit, { kind, mediaType }: SingleManifest): readonly Finding[] {
  const parsed = parseReference(image);
  const pins = parsed.kind === "unparsable" ? [] : findingsOfReference(parsed.reference, mediaType);
  if (kind === "manifest") return pins;
  const message = "The image has a schema 1 manifest, which current container runtimes refuse to pull.";
  return [...pins, { kind: "Schema1", message }];
}

/** Operator bundles are mostly named so; reading their config right away spares the second look. */
function looksLikeBundle(image: string): boolean {
  return /bundle/i.test(image.slice(image.indexOf("/") + 1));
}

function failed({ endpoint }: ImageVisit, reason: FailureReason, problem: string): InspectionError {
  const { host, repository, reference } = endpoint;
  const name = canonicalReference({ registry: host, repository, identifier: reference });
  const verb = reason === "NotAnImage" ? "run" : "read image";
  return inspectionError(reason, `Cannot ${verb} "${name}": ${problem}.`, { registry: host });
}
