// The inspector that asks registries: plan → endpoints in order → one image read. Cache and single-flight wrap it.
import type { Clock } from "../clock.ts";
import type { RegistryClient } from "./client.ts";
import { scopeCovers } from "./credentials/match.ts";
import type { RegistryDocument } from "./image/document.ts";
import { failureOf, InspectionError } from "./errors.ts";
import { type ImageRead, readImage } from "./image/image_reader.ts";
import type { HeadAnswer, InspectionReport, InspectionRequest, RegistryLookups } from "./inspector.ts";
import { RequestLog } from "./request_log.ts";
import type { Endpoint, PullPlanner } from "./pull_plan.ts";
import { canonicalReference } from "./reference.ts";
import type { InspectionFailure } from "./types.ts";

/** What the inspector is made with. */
export interface RegistryInspectorDeps {
  /** Reads documents. */
  readonly client: RegistryClient;
  /** Says where an image may be pulled from. */
  readonly planner: PullPlanner;
  /** Dates what the registries say. */
  readonly clock: Clock;
  /** Also read the configs of an index and compare (more requests). */
  readonly checkConfigs: boolean;
}

/** One question on its way through the endpoints. */
interface InspectionContext {
  readonly request: InspectionRequest;
  readonly requestLog: RequestLog;
  readonly signal: AbortSignal;
}

/** What the first endpoint said that had an answer; or why none had. */
type EndpointResult<T> =
  | { readonly kind: "answered"; readonly result: T; readonly endpoint: Endpoint }
  | { readonly kind: "failed"; readonly failure: InspectionFailure; readonly endpoint: Endpoint | undefined };

/**
 * Opens the inspector. It always asks the registry; nothing is remembered but how to log in. Credentials are tried in the
 * order of the request (see with_keyring.ts), each only where its scope allows.
 */
export function openRegistryInspector(parts: RegistryInspectorDeps): RegistryLookups {
  return new RegistryInspector(parts);
}

class RegistryInspector implements RegistryLookups {
  readonly #parts: RegistryInspectorDeps;

  constructor(parts: RegistryInspectorDeps) {
    this.#parts = parts;
  }

  async inspect(request: InspectionRequest, signal: AbortSignal): Promise<InspectionReport> {
    const verifiedAtMs = this.#parts.clock.nowMs();
    const journey = { request, requestLog: new RequestLog(), signal };
    const visited = await this.#visitEach(journey, (endpoint) => this.#readAt(journey, endpoint));
    const { endpoint } = visited;
    const { inspection, credential }: ImageRead = visited.kind === "answered"
      ? visited.result
      : { inspection: { kind: "failed", failure: visited.failure }, credential: undefined };
    return {
      inspection,
      resolved: endpoint === undefined ? request.image : nameOf(endpoint),
      verifiedAtMs,
      source: "registry",
      access: credential === undefined ? "public" : "private",
      requests: journey.requestLog.counts,
      trace: journey.requestLog.trace,
      ...(credential === undefined ? {} : { credentialSource: credential.source }),
      ...(endpoint?.mirror === true ? { mirror: endpoint.host } : {}),
    };
  }

  async head(request: InspectionRequest, signal: AbortSignal): Promise<HeadAnswer> {
    const journey = { request, requestLog: new RequestLog(), signal };
    const visited = await this.#visitEach(
      journey,
      (endpoint) => this.#read(journey, endpoint, { identifier: endpoint.reference, how: "HEAD" }),
    );
    const cost = { requests: journey.requestLog.counts, trace: journey.requestLog.trace };
    if (visited.kind === "failed") return { kind: "failed", failure: visited.failure, ...cost };
    const { digest, credential } = visited.result;
    if (!/^[a-z0-9]+:[0-9a-f]{32,128}$/.test(digest)) return { kind: "unknown", ...cost };
    const access = credential === undefined ? "public" : "private";
    const answer = { kind: "digest", digest, access, ...cost } as const;
    return credential === undefined ? answer : { ...answer, credentialSource: credential.source };
  }

  #readAt(journey: InspectionContext, endpoint: Endpoint): Promise<ImageRead> {
    const { image, depth } = journey.request;
    const read = (identifier: string, what: "manifest" | "blob"): Promise<RegistryDocument> =>
      this.#read(journey, endpoint, { identifier, how: what });
    return readImage({ image, depth, endpoint, checkConfigs: this.#parts.checkConfigs, read });
  }

  #read(
    { request, requestLog, signal }: InspectionContext,
    endpoint: Endpoint,
    { identifier, how }: { readonly identifier: string; readonly how: "manifest" | "blob" | "HEAD" },
  ): Promise<RegistryDocument> {
    const method = how === "HEAD" ? "HEAD" : "GET";
    const what = how === "blob" ? "blob" : "manifest";
    const credentials = request.credentials.filter(({ scope }) => scopeCovers(scope, endpoint));
    // Asked anew each time: others may join this inspection and raise its priority.
    const priority = (): InspectionRequest["priority"] => request.priority;
    return this.#parts.client.read({ endpoint, identifier, what, method, credentials, priority, requestLog }, signal);
  }

  /** The endpoints in order; the first that answers wins, else the failure tells of all. */
  async #visitEach<T>(
    journey: InspectionContext,
    visit: (endpoint: Endpoint) => Promise<T>,
  ): Promise<EndpointResult<T>> {
    const { request: { image }, signal } = journey;
    const plan = this.#parts.planner.plan(image);
    if (plan.kind === "refused") return { kind: "failed", failure: plan.failure, endpoint: undefined };
    const failures: InspectionFailure[] = [];
    for (const endpoint of plan.endpoints) {
      try {
        return { kind: "answered", result: await visit(endpoint), endpoint };
      } catch (error) {
        if (signal.aborted || !(error instanceof InspectionError)) throw error;
        failures.push(error.failure);
      }
    }
    return { kind: "failed", failure: joinFailures(image, failures), endpoint: plan.endpoints.at(-1) };
  }
}

function nameOf({ host, repository, reference }: Endpoint): string {
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
