// Reads an image from registries: asks its endpoints in order, one after the other, until one gives the image.
import type { Credential } from "./credential.ts";
import { type FirstAnswer, firstAnswer } from "./first_answer.ts";
import type { RegistryDocument } from "./image/document.ts";
import { type ImageRead, readImage } from "./image_reader.ts";
import type { PlannedRequest } from "./inspection_request.ts";
import type { RegistryFailure } from "./errors.ts";
import type { Endpoint, EndpointWithCredentials } from "./endpoint.ts";
import { CONTENT_DIGEST } from "./reference.ts";
import { RepositoryClient, type RepositoryClientDeps } from "./repository_client.ts";
import { RepositoryDocuments } from "./repository_documents.ts";

export interface RegistryRead extends ImageRead {
  /** The credential that some part of the image was read with; undefined: all of it was read anonymously. */
  readonly credential: Credential | undefined;
  /** The endpoint that answered, or got the last request; undefined: there is none. */
  readonly endpoint: Endpoint | undefined;
}

/** What a HEAD of a reference gave. `unknown`: the registry answers without a digest. */
export type HeadAnswer =
  | {
    readonly kind: "digest";
    readonly digest: string;
    readonly credential: Credential | undefined;
  }
  | { readonly kind: "unknown" }
  | { readonly kind: "failed"; readonly failure: RegistryFailure };

/** Caches nothing. A limited number of inspections runs at a time, shared fairly among namespaces. */
export class RegistryReader {
  readonly #deps: RepositoryClientDeps;

  constructor(deps: RepositoryClientDeps) {
    this.#deps = deps;
  }

  /** Never rejects except when the signal aborts. */
  async read(request: PlannedRequest, signal: AbortSignal): Promise<RegistryRead> {
    const first = await this.#first(request, signal, (documents) => readImage(documents, request.depth));
    const { endpoint } = first;
    if (first.kind === "answered") return { ...first.value, endpoint };
    return {
      inspection: { kind: "failed", failure: first.failure },
      credential: undefined,
      lacksManifest: false,
      endpoint,
    };
  }

  /** The digest behind a reference, without reading it. Never rejects except when the signal aborts. */
  async head(request: PlannedRequest, signal: AbortSignal): Promise<HeadAnswer> {
    const read = (documents: RepositoryDocuments): Promise<RegistryDocument> =>
      documents.head(documents.endpoint.identifier);
    const first = await this.#first(request, signal, read);
    if (first.kind === "failed") return { kind: "failed", failure: first.failure };
    const { digest, credential } = first.value;
    return CONTENT_DIGEST.test(digest) ? { kind: "digest", digest, credential } : { kind: "unknown" };
  }

  /** Reads at the endpoints in order when it is the turn of the callers, and says which credential that took. */
  async #first<T>(
    request: PlannedRequest,
    signal: AbortSignal,
    read: (documents: RepositoryDocuments) => Promise<T>,
  ): Promise<FirstAnswer<T & Pick<RegistryRead, "credential">>> {
    using _ = await this.#deps.limits.inspections.acquire(request.callers, signal);
    return await firstAnswer(request, signal, async (endpoint) => {
      const documents = this.#documents(request, endpoint, signal);
      return { ...await read(documents), credential: documents.credential };
    });
  }

  #documents(
    { callers, requestLog }: PlannedRequest,
    endpoint: EndpointWithCredentials,
    signal: AbortSignal,
  ): RepositoryDocuments {
    const context = { callers, requestLog, signal };
    const client = new RepositoryClient(this.#deps, { endpoint, context, rights: "pull" });
    return new RepositoryDocuments({ client });
  }
}
