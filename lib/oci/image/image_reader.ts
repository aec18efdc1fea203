// Reads one image at one endpoint: the top manifest, and of its children and configs what is wanted. Used by inspect.ts.
// Source: pod placement §3.2; requests per benchmarks B4.
import type { Credential } from "../credential.ts";
import type { RegistryDocument } from "./document.ts";
import { InspectionError, inspectionError } from "../errors.ts";
import { findingsOfReference } from "./findings.ts";
import {
  type Descriptor,
  type Labels,
  type ManifestDocument,
  parseImageConfig,
  parseManifest,
  renderMediaType,
} from "./manifest.ts";
import { isBundle, isPlatformEntry, platformsOf, renderPlatform } from "./platforms.ts";
import type { Endpoint } from "../pull_plan.ts";
import { canonicalReference, parseReference } from "../reference.ts";
import type { FailureReason, Finding, Inspection, InspectionDepth, Platform } from "../types.ts";

/** Reads documents of one repository; throws InspectionError. */
export interface DocumentReader {
  /** The manifest or index behind a tag or digest. */
  manifest(reference: string): Promise<RegistryDocument>;
  /** A blob by its digest. */
  blob(digest: string): Promise<RegistryDocument>;
}

/** Which image, and how to read documents of its repository. */
export interface ImageVisit {
  /** As a person wrote it. */
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

/** What an image said, and to whom: the credential is the one that its top manifest took. */
export interface ImageRead {
  /** Never a failure: those are thrown. */
  readonly inspection: Inspection;
  /** undefined when none was needed. */
  readonly credential: Credential | undefined;
}

type SingleManifest = Extract<ManifestDocument, { kind: "manifest" | "schema1" }>;

interface Config {
  readonly platform: Platform;
  readonly labels: Labels;
}

/** Nested indexes followed; nobody builds more, and each costs a request. */
const MAX_NESTED = 4;

/** Entries compared at most with their configs: each costs two requests, one after the other. */
const MAX_COMPARED = 32;

/** Reads the image. Throws InspectionError. */
export async function readImage(visit: ImageVisit): Promise<ImageRead> {
  const top = await visit.session.manifest(visit.endpoint.reference);
  const { digest, credential } = top;
  const manifest = parseManifest(top.text, top.contentType);
  if (manifest.kind === "malformed") throw failed(visit, "Malformed", manifest.problem);
  if (manifest.kind === "index") {
    return { inspection: await readIndex(visit, { manifest, digest }), credential };
  }
  const { platform, labels } = await readSingle(visit, manifest);
  const findings = findingsOf(visit, manifest);
  const common = { digest, mediaType: manifest.mediaType, platforms: [platform], findings };
  const inspection: Inspection = isBundle(labels)
    ? { kind: "anywhere", ...common }
    : { kind: "platforms", ...common, depth: "config" };
  return { inspection, credential };
}

async function readIndex(
  visit: ImageVisit,
  { manifest, digest }: { readonly manifest: Extract<ManifestDocument, { kind: "index" }>; readonly digest: string },
): Promise<Inspection> {
  const { mediaType } = manifest;
  const entries = await unfold(visit, manifest.entries);
  const platforms = platformsOf(entries);
  const [first] = entries.filter(isPlatformEntry);
  if (first === undefined) throw failed(visit, "NotAnImage", "its index names no platform");
  const isDeep = visit.depth === "config" || looksLikeBundle(visit.image);
  const findings = visit.checkConfigs ? await compareConfigs(visit, entries) : [];
  const common = { digest, mediaType, platforms, findings };
  if (!isDeep && !visit.checkConfigs) return { kind: "platforms", ...common, depth: "index" };
  // A mirror that lacks the first child has been found out above; its labels are nowhere to be read.
  const isGone = findings.some(({ kind, message }) => kind === "TruncatedIndex" && message.includes(first.digest));
  const labels = isGone ? {} : (await readChild(visit, first)).labels;
  if (isBundle(labels)) return { kind: "anywhere", ...common };
  return { kind: "platforms", ...common, depth: "config" };
}

/** Indexes within the index, one level deep and few of them, opened in place. */
async function unfold(visit: ImageVisit, entries: readonly Descriptor[]): Promise<readonly Descriptor[]> {
  const unfolded: Descriptor[] = [];
  let nested = 0;
  for (const entry of entries) {
    const isNested = entry.platform === undefined && /index\.v1|manifest\.list\.v2/.test(entry.mediaType);
    if (!isNested) unfolded.push(entry);
    if (!isNested || ++nested > MAX_NESTED) continue;
    const { text, contentType } = await visit.session.manifest(entry.digest);
    const inner = parseManifest(text, contentType);
    if (inner.kind === "index") unfolded.push(...inner.entries);
  }
  return unfolded;
}

async function readChild(visit: ImageVisit, entry: Descriptor): Promise<Config> {
  const { text, contentType } = await visit.session.manifest(entry.digest);
  const manifest = parseManifest(text, contentType);
  if (manifest.kind === "malformed" || manifest.kind === "index") {
    throw failed(visit, "Malformed", "its child is not a manifest");
  }
  return await readSingle(visit, manifest);
}

async function readSingle(visit: ImageVisit, manifest: SingleManifest): Promise<Config> {
  if (manifest.kind === "schema1") return manifest;
  if (!manifest.isImage) {
    throw failed(visit, "NotAnImage", `the type of its config is ${renderMediaType(manifest.config.mediaType)}`);
  }
  const { text } = await visit.session.blob(manifest.config.digest);
  const config = parseImageConfig(text);
  if (config.kind === "malformed") throw failed(visit, "NotAnImage", config.problem);
  return config;
}

/** The opt-in check: an index may say one architecture and the image's own config another. */
async function compareConfigs(visit: ImageVisit, entries: readonly Descriptor[]): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { digest, platform: named, ...entry } of entries.filter(isPlatformEntry).slice(0, MAX_COMPARED)) {
    try {
      const { platform } = await readChild(visit, { ...entry, digest });
      if (platform.architecture === named.architecture) continue;
      const message = `The index says ${renderPlatform(named)} for ${digest}, its config says ${
        renderPlatform(platform)
      }.`;
      findings.push({ kind: "ArchitectureMismatch", message });
    } catch (error) {
      if (!(error instanceof InspectionError) || error.failure.reason !== "ManifestUnknown") throw error;
      const message = `The index lists ${renderPlatform(named)} (${digest}), but ${visit.endpoint.host} lacks it.`;
      findings.push({ kind: "TruncatedIndex", message });
    }
  }
  return findings;
}

function findingsOf({ image }: ImageVisit, { kind, mediaType }: SingleManifest): readonly Finding[] {
  const parsed = parseReference(image);
  const pins = parsed.kind === "invalid" ? [] : findingsOfReference(parsed.reference, mediaType);
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
