// Reads one image at one endpoint: the top manifest, and of its children and configs what is wanted.
import type { Credential } from "./credential.ts";
import { RegistryError, registryError } from "./errors.ts";
import { type Descriptor, type ImageLabels, type ManifestDocument, MAX_ENTRIES } from "./image/manifest.ts";
import {
  distinctPlatforms,
  isBundle,
  isEntryWithoutPlatform,
  isNestedIndex,
  isPlatformEntry,
  platformsOf,
} from "./image/platforms.ts";
import type { PlannedRequest } from "./inspection.ts";
import type { Endpoint } from "./pull_plan.ts";
import { nameAt } from "./reference.ts";
import type { Session } from "./session.ts";
import type { FailureReason, Finding, Inspection, Platform } from "./types.ts";

interface ImageVisit {
  readonly request: Pick<PlannedRequest, "depth">;
  readonly endpoint: Endpoint;
  readonly session: Pick<Session, "manifest" | "child" | "config">;
}

export interface ImageRead {
  readonly inspection: Inspection;
  readonly credential: Credential | undefined;
  /** Whether the endpoint lacks what the image's index lists and was wanted: then this says nothing of the image elsewhere. */
  readonly isPartial: boolean;
}

type SingleManifest = Extract<ManifestDocument, { kind: "manifest" | "schema1" }>;

interface Config {
  readonly platform: Platform;
  readonly labels: ImageLabels;
}

interface EntriesRead extends Pick<ImageRead, "isPartial"> {
  readonly configs: readonly Config[];
  readonly findings: readonly Finding[];
}

/** Nested indexes that are followed: each costs a request, and builders make no more. */
const MAX_NESTED = 4;

/** Entries without platform whose configs are read: each costs two requests, one after the other. */
const MAX_ENTRIES_WITHOUT_PLATFORM = 8;

/** Of those, how many at a time: each holds a document in memory, and many images are read at a time. */
const MAX_PARALLEL_READS = 2;

/** More platforms than any image has; they are kept in memory for every image. */
const MAX_PLATFORMS = 64;

const SCHEMA1: Finding = {
  kind: "Schema1",
  message: "The image has a schema 1 manifest, which current container runtimes refuse to pull.",
};

export async function readImage(visit: ImageVisit): Promise<ImageRead> {
  const { manifest, digest, credential } = await visit.session.manifest(visit.endpoint.identifier);
  if (manifest.kind === "unparsable") throw failed(visit, "Malformed", manifest.problem);
  if (manifest.kind === "index") return { ...await readIndex(visit, manifest, digest), credential };
  const { platform, labels } = await readSingle(visit, manifest);
  const { mediaType } = manifest;
  const findings = manifest.kind === "schema1" ? [SCHEMA1] : [];
  const inspection = inspectionBy(labels, { digest, mediaType, platforms: [platform], findings });
  return { inspection, credential, isPartial: false };
}

async function readIndex(
  visit: ImageVisit,
  { mediaType, entries: listed }: Extract<ManifestDocument, { kind: "index" }>,
  digest: string,
): Promise<Omit<ImageRead, "credential">> {
  const entries = await unfold(visit, listed);
  const { configs, findings, isPartial } = await readEntriesWithoutPlatform(visit, entries);
  const platforms = distinctPlatforms([...platformsOf(entries), ...configs.map(({ platform }) => platform)]);
  if (platforms.length === 0) throw failed(visit, "NotAnImage", "its index names no platform");
  if (platforms.length > MAX_PLATFORMS) {
    throw failed(visit, "Malformed", `its index names more than ${MAX_PLATFORMS} platforms`);
  }
  const found = { digest, mediaType, platforms, findings };
  const [first] = entries.filter(isPlatformEntry);
  const isDeep = visit.request.depth === "config" || looksLikeBundle(visit.endpoint);
  if (first !== undefined && !isDeep) {
    return { inspection: { kind: "platforms", ...found, depth: "index" }, isPartial };
  }
  const labels = first === undefined ? configs[0]?.labels : (await readChild(visit, first)).labels;
  return { inspection: inspectionBy(labels ?? {}, found), isPartial };
}

/** What was found of an image, by the labels of its config. */
function inspectionBy(labels: ImageLabels, found: Omit<Extract<Inspection, { kind: "anywhere" }>, "kind">): Inspection {
  return isBundle(labels) ? { kind: "anywhere", ...found } : { kind: "platforms", ...found, depth: "config" };
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
    const { manifest: inner } = await visit.session.child(entry.digest);
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
  entries: readonly Descriptor[],
): Promise<EntriesRead> {
  const withoutPlatform = entries.filter(isEntryWithoutPlatform);
  const findings: Finding[] = [];
  let isPartial = false;
  const read = async (entry: Descriptor): Promise<readonly Config[]> => {
    try {
      return [await readChild(visit, entry)];
    } catch (error) {
      const reason = error instanceof RegistryError ? error.failure.reason : undefined;
      if (reason === "NotAnImage") return [];
      if (reason !== "ManifestUnknown") throw error;
      isPartial = true;
      const message = `The index lists ${entry.digest} without a platform, but ${visit.endpoint.host} lacks it.`;
      findings.push({ kind: "TruncatedIndex", message });
      return [];
    }
  };
  const wanted = withoutPlatform.slice(0, MAX_ENTRIES_WITHOUT_PLATFORM);
  const configs: Config[] = [];
  for (let at = 0; at < wanted.length; at += MAX_PARALLEL_READS) {
    configs.push(...(await Promise.all(wanted.slice(at, at + MAX_PARALLEL_READS).map(read))).flat());
  }
  if (withoutPlatform.length > MAX_ENTRIES_WITHOUT_PLATFORM) {
    const message =
      `The index lists ${withoutPlatform.length} manifests without a platform; ${MAX_ENTRIES_WITHOUT_PLATFORM} of them were read.`;
    findings.push({ kind: "TruncatedIndex", message });
  }
  return { configs, findings, isPartial };
}

async function readChild(visit: ImageVisit, entry: Descriptor): Promise<Config> {
  const { manifest } = await visit.session.child(entry.digest);
  if (manifest.kind === "unparsable" || manifest.kind === "index") {
    throw failed(visit, "Malformed", "its child is not a manifest");
  }
  return await readSingle(visit, manifest);
}

async function readSingle(visit: ImageVisit, manifest: SingleManifest): Promise<Config> {
  const config = await visit.session.config(manifest);
  if (config.kind === "unparsable") throw failed(visit, "NotAnImage", config.problem);
  return config;
}

/** Operator bundles are mostly named so; reading their config right away spares the second look. */
function looksLikeBundle({ repository, identifier }: Endpoint): boolean {
  return /bundle/i.test(`${repository}:${identifier}`);
}

function failed({ endpoint }: ImageVisit, reason: FailureReason, problem: string): RegistryError {
  const verb = reason === "NotAnImage" ? "run" : "read image";
  return registryError(reason, `Cannot ${verb} "${nameAt(endpoint)}": ${problem}.`, { registry: endpoint.host });
}
