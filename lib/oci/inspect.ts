// The inspector that sends requests to registries: the endpoints of an image in order, one session each, until one gives the image.
import type { Clock } from "../clock.ts";
import { failureOf, InspectionError } from "./errors.ts";
import type { InspectionContext } from "./inspection_context.ts";
import { type ImageRead, readImage } from "./image/image_reader.ts";
import type { HeadAnswer, InspectionReport, InspectionRequest, PlannedRequest, RegistryLookups } from "./inspector.ts";
import { callersOf } from "./limits/callers.ts";
import { RequestLog } from "./request_log.ts";
import type { Endpoint } from "./pull_plan.ts";
import { canonicalReference } from "./reference.ts";
import type { OpenSession, Session } from "./session.ts";
import type { InspectionFailure } from "./types.ts";

/** What the inspector is made with. */
export interface RegistryInspectorDeps {
  /** Reads documents. */
  readonly openSession: OpenSession;
  /** Dates what the registries say. */
  readonly clock: Clock;
  /** Also read the configs of an index and compare (more requests). */
  readonly checkConfigs: boolean;
}

/** What the first endpoint that has the image gives; or why none does. */
type EndpointResult<T> =
  | { readonly kind: "answered"; readonly result: T; readonly endpoint: Endpoint }
  | { readonly kind: "failed"; readonly failure: InspectionFailure; readonly endpoint: Endpoint | undefined };

/**
 * Opens the inspector. It always sends requests to the registry; only login challenges and tokens are cached. Credentials are tried in the
 * order of the request (see with_keyring.ts), each only where its scope allows.
 */
export function openRegistryInspector(deps: RegistryInspectorDeps): RegistryLookups {
  return new RegistryInspector(deps);
}

class RegistryInspector implements RegistryLookups {
  readonly #deps: RegistryInspectorDeps;

  constructor(deps: RegistryInspectorDeps) {
    this.#deps = deps;
  }

  async inspect(request: PlannedRequest, signal: AbortSignal): Promise<InspectionReport> {
    const { clock, checkConfigs } = this.#deps;
    const { image, depth } = request;
    const verifiedAtMs = clock.nowMs();
    const context = contextOf(request, signal);
    const first = await this.#firstAnswer(
      request,
      context,
      (session, endpoint) => readImage({ image, depth, endpoint, checkConfigs, session }),
    );
    const { endpoint } = first;
    const { inspection, credential, isPartial }: ImageRead = first.kind === "answered"
      ? first.result
      : { inspection: { kind: "failed", failure: first.failure }, credential: undefined, isPartial: false };
    return {
      inspection,
      isPartial,
      resolved: endpoint === undefined ? image : nameOf(endpoint),
      verifiedAtMs,
      source: "registry",
      access: credential === undefined ? "public" : "private",
      requests: context.log.counts,
      trace: context.log.trace,
      credentialSource: credential?.source,
      mirror: endpoint?.mirror === true ? endpoint.host : undefined,
    };
  }

  async head(request: PlannedRequest, signal: AbortSignal): Promise<HeadAnswer> {
    const context = contextOf(request, signal);
    const first = await this.#firstAnswer(request, context, (session, { reference }) => session.head(reference));
    const cost = { requests: context.log.counts, trace: context.log.trace };
    if (first.kind === "failed") return { kind: "failed", failure: first.failure, ...cost };
    const { digest, credential } = first.result;
    if (!/^[a-z0-9]+:[0-9a-f]{32,128}$/.test(digest)) return { kind: "unknown", ...cost };
    const access = credential === undefined ? "public" : "private";
    return { kind: "digest", digest, access, credentialSource: credential?.source, ...cost };
  }

  /** The endpoints in order; the first that answers wins, otherwise the failure names the problems of all. */
  async #firstAnswer<T>(
    { image, endpoints }: PlannedRequest,
    context: InspectionContext,
    read: (session: Session, endpoint: Endpoint) => Promise<T>,
  ): Promise<EndpointResult<T>> {
    const failures: InspectionFailure[] = [];
    for (const endpoint of endpoints) {
      try {
        const session = this.#deps.openSession(endpoint, context);
        return { kind: "answered", result: await read(session, endpoint), endpoint };
      } catch (error) {
        if (context.signal.aborted || !(error instanceof InspectionError)) throw error;
        failures.push(error.failure);
      }
    }
    return { kind: "failed", failure: joinFailures(image, failures), endpoint: endpoints.at(-1) };
  }
}

function contextOf(request: InspectionRequest, signal: AbortSignal): InspectionContext {
  return { credentials: request.credentials, callers: callersOf(request), signal, log: new RequestLog() };
}

function nameOf({ host, repository, reference }: Endpoint): string {
  return canonicalReference({ registry: host, repository, identifier: reference });
}

/**
 * One failure for those of several endpoints: that of the registry itself, which comes last, followed by the messages of the mirrors. It is
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
