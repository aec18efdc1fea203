// The inspector that sends requests to registries: the endpoints of an image in order, one session each, until one gives the image.
import { firstAnswer } from "./first_answer.ts";
import type { InspectionContext } from "./request_log.ts";
import { type ImageRead, readImage } from "./image_reader.ts";
import type { HeadAnswer, InspectionReport, PlannedRequest, RegistryLookups } from "./inspector.ts";
import { CONTENT_DIGEST, nameAt } from "./reference.ts";
import type { RepositoryClientDeps } from "./repository_client.ts";
import { openSession } from "./session.ts";

/** Keeps no inspection: only login challenges and tokens outlive a request. Inspects some at a time, by the shares of callers. */
export class RegistryInspector implements RegistryLookups {
  readonly #deps: RepositoryClientDeps;

  constructor(deps: RepositoryClientDeps) {
    this.#deps = deps;
  }

  async inspect(request: PlannedRequest, signal: AbortSignal): Promise<InspectionReport> {
    const { image } = request;
    using _ = await this.#deps.limits.inspections.acquire(request.callers, signal);
    const verifiedAtMs = this.#deps.clock.nowMs();
    const context = contextOf(request, signal);
    const first = await firstAnswer(
      request,
      signal,
      (endpoint) => readImage({ request, endpoint, session: openSession(this.#deps, endpoint, context) }),
    );
    const { endpoint } = first;
    const { inspection, credential, isPartial }: ImageRead = first.kind === "answered"
      ? first.value
      : { inspection: { kind: "failed", failure: first.failure }, credential: undefined, isPartial: false };
    return {
      inspection,
      isPartial,
      resolved: endpoint === undefined ? image : nameAt(endpoint),
      verifiedAtMs,
      source: "registry",
      access: credential === undefined ? "public" : "private",
      requests: context.log.counts,
      trace: context.log.trace,
      credentialSource: credential?.source,
      mirror: endpoint?.isMirror === true ? endpoint.host : undefined,
    };
  }

  async head(request: PlannedRequest, signal: AbortSignal): Promise<HeadAnswer> {
    using _ = await this.#deps.limits.inspections.acquire(request.callers, signal);
    const context = contextOf(request, signal);
    const first = await firstAnswer(
      request,
      signal,
      (endpoint) => openSession(this.#deps, endpoint, context).head(endpoint.identifier),
    );
    if (first.kind === "failed") return { kind: "failed", failure: first.failure };
    const { digest, credential } = first.value;
    if (!CONTENT_DIGEST.test(digest)) return { kind: "unknown" };
    const access = credential === undefined ? "public" : "private";
    return { kind: "digest", digest, access, credentialSource: credential?.source };
  }
}

function contextOf({ credentials, callers, log }: PlannedRequest, signal: AbortSignal): InspectionContext {
  return { credentials, callers, signal, log };
}
