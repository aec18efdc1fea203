// The inspector that sends requests to registries: the endpoints of an image in order, one after the other, until one
// gives the image.
import type { Credential } from "./credential.ts";
import { firstAnswer } from "./first_answer.ts";
import { readImage } from "./image_reader.ts";
import type { InspectionReport, PlannedRequest } from "./inspection_request.ts";
import type { RegistryFailure } from "./errors.ts";
import type { PlannedEndpoint } from "./pull_plan.ts";
import { CONTENT_DIGEST, nameAt } from "./reference.ts";
import { RepositoryClient, type RepositoryClientDeps } from "./repository_client.ts";
import { RepositoryDocuments } from "./repository_documents.ts";

/** What a HEAD of a reference gave. `unknown`: the registry answers without a digest. */
export type HeadAnswer =
  | {
    readonly kind: "digest";
    readonly digest: string;
    readonly visibility: InspectionReport["visibility"];
    readonly credentialSource?: string | undefined;
  }
  | { readonly kind: "unknown" }
  | { readonly kind: "failed"; readonly failure: RegistryFailure };

/**
 * Keeps no inspection: only login challenges and tokens outlive a request. Inspects some at a time, by the shares of
 * callers.
 */
export class RegistryReader {
  readonly #deps: RepositoryClientDeps;

  constructor(deps: RepositoryClientDeps) {
    this.#deps = deps;
  }

  /** Never rejects except when the signal aborts. */
  async read(request: PlannedRequest, signal: AbortSignal): Promise<InspectionReport> {
    const { image, callers, requestLog } = request;
    using _ = await this.#deps.limits.inspections.acquire(callers, signal);
    const first = await firstAnswer(
      request,
      signal,
      async (endpoint) => {
        const documents = this.#documents(request, endpoint, signal);
        const read = await readImage(documents, request.depth);
        return { ...read, credential: documents.credential };
      },
    );
    const { endpoint } = first;
    const { inspection, credential, isPartial } = first.kind === "answered"
      ? first.value
      : { inspection: { kind: "failed", failure: first.failure }, credential: undefined, isPartial: false } as const;
    return {
      inspection,
      isPartial,
      resolved: endpoint === undefined ? image : nameAt(endpoint),
      source: "registry",
      visibility: visibilityBy(credential),
      requests: requestLog.counts,
      trace: requestLog.trace,
      credentialSource: credential?.source,
      mirror: endpoint?.isMirror === true ? endpoint.host : undefined,
    };
  }

  /** The digest behind a reference, without reading it. Never rejects except when the signal aborts. */
  async head(request: PlannedRequest, signal: AbortSignal): Promise<HeadAnswer> {
    using _ = await this.#deps.limits.inspections.acquire(request.callers, signal);
    const first = await firstAnswer(
      request,
      signal,
      async (endpoint) => {
        const documents = this.#documents(request, endpoint, signal);
        const { digest } = await documents.head(endpoint.identifier);
        return { digest, credential: documents.credential };
      },
    );
    if (first.kind === "failed") return { kind: "failed", failure: first.failure };
    const { digest, credential } = first.value;
    if (!CONTENT_DIGEST.test(digest)) return { kind: "unknown" };
    return { kind: "digest", digest, visibility: visibilityBy(credential), credentialSource: credential?.source };
  }

  #documents(
    { callers, requestLog }: PlannedRequest,
    endpoint: PlannedEndpoint,
    signal: AbortSignal,
  ): RepositoryDocuments {
    const context = { callers, requestLog, signal };
    const client = new RepositoryClient(this.#deps, { endpoint, context, rights: "pull" });
    return new RepositoryDocuments({ client });
  }
}

function visibilityBy(credential: Credential | undefined): InspectionReport["visibility"] {
  return credential === undefined ? "public" : "private";
}
