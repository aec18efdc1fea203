// The inspector that asks the registry: plan → endpoints → one manifest → platforms. Cache and single-flight wrap it.
// Source: pod placement §3.2; requests per benchmarks B4.
import { scopeCovers } from "./credentials/match.ts";
import type { RegistryClient, RegistryDocument } from "./client.ts";
import { failureOf, InspectionError, inspectionError } from "./errors.ts";
import { findingsOfReference } from "./findings.ts";
import { Ledger } from "./ledger.ts";
import {
  type Descriptor,
  type ManifestDocument,
  parseImageConfig,
  parseManifest,
  renderMediaType,
} from "./manifest.ts";
import { isBundle, isPlatformEntry, platformsOf, renderPlatform } from "./platforms.ts";
import { canonicalReference, parseReference } from "./reference.ts";
import type {
  Credential,
  Endpoint,
  Finding,
  HeadAnswer,
  Inspection,
  InspectionFailure,
  InspectionPriority,
  InspectionReport,
  InspectionRequest,
  PullPlanner,
  RegistryLookups,
} from "./types.ts";

/** What the inspector is made with. */
export interface RegistryInspectorParts {
  /** Reads documents. */
  readonly client: RegistryClient;
  /** Says where an image may be pulled from. */
  readonly planner: PullPlanner;
  /** Also read the configs of an index and compare (more requests). */
  readonly checkConfigs: boolean;
}

/** One endpoint, with who asks and what it costs. */
interface Visit {
  readonly request: InspectionRequest;
  readonly endpoint: Endpoint;
  readonly credentials: readonly Credential[];
  readonly ledger: Ledger;
  readonly signal: AbortSignal;
}

interface Found {
  readonly inspection: Inspection;
  readonly credential: Credential | undefined;
}

const MAX_NESTED = 4;

/**
 * Opens the inspector. It always asks the registry; nothing is remembered but how to log in. Credentials are tried in the
 * order of the request (see with_keyring.ts), each only where its scope allows.
 */
export function openRegistryInspector(parts: RegistryInspectorParts): RegistryLookups {
  const { client, planner } = parts;

  /** The endpoints in order; the first that answers wins, else the last failure tells of all. */
  async function visitEach<T>(
    request: InspectionRequest,
    { ledger, signal, visit }: {
      readonly ledger: Ledger;
      readonly signal: AbortSignal;
      readonly visit: (visit: Visit) => Promise<T>;
    },
  ): Promise<
    { readonly result: T; readonly endpoint: Endpoint } | {
      readonly failure: InspectionFailure;
      readonly endpoint?: Endpoint;
    }
  > {
    const plan = planner.plan(request.image);
    if (plan.kind === "refused") return { failure: plan.failure };
    const failures: InspectionFailure[] = [];
    let last: Endpoint | undefined;
    for (const endpoint of plan.endpoints) {
      last = endpoint;
      try {
        const credentials = request.credentials.filter(({ scope }) => scopeCovers(scope, endpoint));
        return { result: await visit({ request, endpoint, credentials, ledger, signal }), endpoint };
      } catch (error) {
        if (signal.aborted || !(error instanceof InspectionError)) throw error;
        failures.push(error.failure);
      }
    }
    const failure = joinFailures(request.image, failures);
    return last === undefined ? { failure } : { failure, endpoint: last };
  }

  async function inspect(request: InspectionRequest, signal: AbortSignal): Promise<InspectionReport> {
    const ledger = new Ledger();
    const visited = await visitEach(request, { ledger, signal, visit: inspectAt });
    const { endpoint } = visited;
    const found: Found = "result" in visited
      ? visited.result
      : { inspection: { kind: "failed", failure: visited.failure }, credential: undefined };
    return {
      inspection: found.inspection,
      resolved: endpoint === undefined ? request.image : resolvedName(endpoint),
      source: "registry",
      access: found.credential === undefined ? "public" : "private",
      requests: ledger.counts,
      trace: ledger.trace,
      ...(found.credential === undefined ? {} : { credentialSource: found.credential.source }),
      ...(endpoint?.mirror === true ? { mirror: endpoint.host } : {}),
    };
  }

  async function head(request: InspectionRequest, signal: AbortSignal): Promise<HeadAnswer> {
    const ledger = new Ledger();
    const visit = (at: Visit): Promise<RegistryDocument> => readDocument(at, at.endpoint.reference, "HEAD");
    const visited = await visitEach(request, { ledger, signal, visit });
    const cost = { requests: ledger.counts, trace: ledger.trace };
    if ("failure" in visited) return { kind: "failed", failure: visited.failure, ...cost };
    const { digest, credential } = visited.result;
    if (!/^[a-z0-9]+:[0-9a-f]{32,128}$/.test(digest)) return { kind: "unknown", ...cost };
    const access = credential === undefined ? "public" : "private";
    const answer = { kind: "digest", digest, access, ...cost } as const;
    return credential === undefined ? answer : { ...answer, credentialSource: credential.source };
  }

  function readDocument(visit: Visit, identifier: string, how: "GET" | "HEAD" | "blob"): Promise<RegistryDocument> {
    const { endpoint, credentials, ledger, signal, request } = visit;
    const priority = (): InspectionPriority => request.priority;
    const what = how === "blob" ? "blob" : "manifest";
    const method = how === "HEAD" ? "HEAD" : "GET";
    return client.read({ endpoint, identifier, what, method, credentials, priority, ledger }, signal);
  }

  async function inspectAt(visit: Visit): Promise<Found> {
    const top = await readDocument(visit, visit.endpoint.reference, "GET");
    const { digest, credential } = top;
    const manifest = parseManifest(top.text, top.contentType);
    if (manifest.kind === "malformed") throw malformed(visit, manifest.problem);
    const { mediaType } = manifest;
    if (manifest.kind === "index") return { inspection: await inspectIndex(visit, { manifest, digest }), credential };
    const { platform, labels } = await readSingle(visit, manifest);
    const findings = findingsFor(visit.request.image, manifest);
    const common = { digest, mediaType, platforms: [platform], findings };
    const inspection: Inspection = isBundle(labels)
      ? { kind: "anywhere", ...common }
      : { kind: "platforms", ...common, depth: "config" };
    return { inspection, credential };
  }

  async function inspectIndex(
    visit: Visit,
    { manifest, digest }: { readonly manifest: Extract<ManifestDocument, { kind: "index" }>; readonly digest: string },
  ): Promise<Inspection> {
    const { mediaType } = manifest;
    const entries = await unfold(visit, manifest.entries);
    const platforms = platformsOf(entries);
    const [first] = entries.filter(isPlatformEntry);
    if (first === undefined) throw notAnImage(visit, "its index names no platform");
    const depth = visit.request.depth === "config" || looksLikeBundle(visit.request.image) ? "config" : "index";
    if (depth === "index" && !parts.checkConfigs) {
      return { kind: "platforms", digest, mediaType, platforms, depth, findings: [] };
    }
    const { labels } = await readChild(visit, first);
    const findings = parts.checkConfigs ? await compareConfigs(visit, entries) : [];
    if (isBundle(labels)) return { kind: "anywhere", digest, mediaType, platforms, findings };
    return { kind: "platforms", digest, mediaType, platforms, depth: "config", findings };
  }

  /** Indexes within the index, one level deep and few of them, opened in place. */
  async function unfold(visit: Visit, entries: readonly Descriptor[]): Promise<readonly Descriptor[]> {
    const unfolded: Descriptor[] = [];
    let nested = 0;
    for (const entry of entries) {
      const isNested = entry.platform === undefined && /index\.v1|manifest\.list\.v2/.test(entry.mediaType);
      if (!isNested) unfolded.push(entry);
      if (!isNested || ++nested > MAX_NESTED) continue;
      const { text, contentType } = await readDocument(visit, entry.digest, "GET");
      const inner = parseManifest(text, contentType);
      if (inner.kind === "index") unfolded.push(...inner.entries);
    }
    return unfolded;
  }

  async function readChild(visit: Visit, entry: Descriptor): Promise<ReturnType<typeof singleOf>> {
    const { text, contentType } = await readDocument(visit, entry.digest, "GET");
    const manifest = parseManifest(text, contentType);
    if (manifest.kind === "malformed" || manifest.kind === "index") {
      throw malformed(visit, "its child is not a manifest");
    }
    return await readSingle(visit, manifest);
  }

  async function readSingle(
    visit: Visit,
    manifest: Extract<ManifestDocument, { kind: "manifest" | "schema1" }>,
  ): Promise<ReturnType<typeof singleOf>> {
    if (manifest.kind === "schema1") return singleOf(manifest);
    if (!manifest.isImage) {
      throw notAnImage(visit, `the type of its config is ${renderMediaType(manifest.config.mediaType)}`);
    }
    const { text } = await readDocument(visit, manifest.config.digest, "blob");
    const config = parseImageConfig(text);
    if (config.kind === "malformed") throw notAnImage(visit, config.problem);
    return singleOf(config);
  }

  /** The opt-in check: an index may say one architecture and the image's own config another. */
  async function compareConfigs(visit: Visit, entries: readonly Descriptor[]): Promise<readonly Finding[]> {
    const findings: Finding[] = [];
    for (const entry of entries.filter(isPlatformEntry)) {
      try {
        const { platform } = await readChild(visit, entry);
        if (platform.architecture === entry.platform.architecture) continue;
        const message = `The index says ${renderPlatform(entry.platform)} for ${entry.digest}, ` +
          `its config says ${renderPlatform(platform)}.`;
        findings.push({ kind: "ArchitectureMismatch", message });
      } catch (error) {
        if (!(error instanceof InspectionError) || error.failure.reason !== "ManifestUnknown") throw error;
        const message =
          `The index lists ${renderPlatform(entry.platform)} (${entry.digest}), but ${visit.endpoint.host} ` +
          "does not have it.";
        findings.push({ kind: "TruncatedIndex", message });
      }
    }
    return findings;
  }

  return { inspect, head };
}

const SCHEMA1_FINDING: Finding = {
  kind: "Schema1",
  message: "The image has a schema 1 manifest, which current container runtimes refuse to pull.",
};

function singleOf<
  T extends { readonly platform: Descriptor["platform"] & object; readonly labels: Readonly<Record<string, unknown>> },
>(
  { platform, labels }: T,
): Pick<T, "platform" | "labels"> {
  return { platform, labels };
}

/** Operator bundles are mostly named so; reading their config right away spares the second look. */
function looksLikeBundle(image: string): boolean {
  return /bundle/i.test(image.slice(image.indexOf("/") + 1));
}

function findingsFor(
  image: string,
  { kind, mediaType }: ManifestDocument & { readonly mediaType: string },
): readonly Finding[] {
  const parsed = parseReference(image);
  const pins = parsed.kind === "invalid" ? [] : findingsOfReference(parsed.reference, mediaType);
  return kind === "schema1" ? [...pins, SCHEMA1_FINDING] : pins;
}

function malformed({ endpoint }: Visit, problem: string): InspectionError {
  return inspectionError("Malformed", `Cannot read image "${resolvedName(endpoint)}": ${problem}.`, {
    registry: endpoint.host,
  });
}

function notAnImage({ endpoint }: Visit, problem: string): InspectionError {
  return inspectionError("NotAnImage", `Cannot run "${resolvedName(endpoint)}": ${problem}.`, {
    registry: endpoint.host,
  });
}

function resolvedName({ host, repository, reference }: Endpoint): string {
  return canonicalReference({ registry: host, repository, identifier: reference });
}

/**
 * Of several endpoints' failures: the registry's own (it comes last) speaks, the mirrors' are told beside it. It is
 * transient if any of them is, because that one may have the image.
 */
function joinFailures(image: string, failures: readonly InspectionFailure[]): InspectionFailure {
  const last = failures.at(-1);
  if (last === undefined) {
    return failureOf("Misconfigured", `Cannot inspect "${image}": no registry is configured for it.`);
  }
  const transient = [...failures].reverse().find(({ kind }) => kind === "transient") ?? last;
  const others = failures.filter((failure) => failure !== transient).map(({ message }) => message);
  return others.length === 0 ? transient : { ...transient, message: [transient.message, ...others].join(" Also: ") };
}
