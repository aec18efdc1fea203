// Reads and writes repositories without a cache. Finds the endpoints of references, keeps a client for each repository
// to read, and counts all requests.
import type { Clock } from "../clock.ts";
import type { RegistryAccess } from "./registry_access.ts";
import type { Rights } from "./auth/token_scopes.ts";
import { credentialsToTry } from "./credentials/match.ts";
import { RegistryError, registryError } from "./errors.ts";
import { firstAnswer } from "./first_answer.ts";
import { callersOf } from "./callers.ts";
import { TargetRepository } from "./push/target_repository.ts";
import { type Endpoint, keyOfEndpoint } from "./endpoint.ts";
import { RepositoryClient } from "./repository_client.ts";
import { withRetries } from "./push/retries.ts";
import { RepositoryDocuments, type WholeManifest } from "./repository_documents.ts";
import { RequestLog } from "./request_log.ts";

/** The manifest that a reference names at one endpoint, and the other documents of its repository. */
export interface OpenImage {
  readonly top: WholeManifest;
  readonly documents: RepositoryDocuments;
  readonly endpoint: Endpoint;
}

export interface RepositoriesDeps {
  readonly access: RegistryAccess;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export class Repositories {
  readonly #deps: RepositoriesDeps;
  readonly #requestLog = new RequestLog();
  readonly #clients = new Map<string, Promise<RepositoryClient>>();

  constructor(deps: RepositoriesDeps) {
    this.#deps = deps;
  }

  get requests(): number {
    return Object.values(this.#requestLog.counts).reduce((sum, count) => sum + count, 0);
  }

  /** The place that an image is pushed to: never a mirror. Throws RegistryError when there is none. */
  targetOf(image: string): Endpoint {
    const endpoint = this.endpointsOf(image).find(({ isMirror }) => !isMirror);
    if (endpoint !== undefined) return endpoint;
    throw registryError("Misconfigured", `Cannot push "${image}": only mirrors are configured for it.`);
  }

  endpointsOf(image: string): readonly Endpoint[] {
    const plan = this.#deps.access.planner.plan(image);
    if (plan.kind === "refused") throw new RegistryError(plan.failure);
    return plan.endpoints;
  }

  /**
   * What `read` gives at the first of `endpoints` where it succeeds. Throws RegistryError where it fails at every one.
   */
  async read<T>(
    { image, retries, endpoints = this.endpointsOf(image) }: {
      readonly image: string;
      readonly retries: "bounded" | "none";
      readonly endpoints?: readonly Endpoint[];
    },
    read: (image: OpenImage) => T | Promise<T>,
  ): Promise<T> {
    const { clock, signal } = this.#deps;
    const retrying = retries === "none" ? undefined : (
      <T>(work: () => Promise<T>): Promise<T> => withRetries(work, { clock, signal })
    );
    const first = await firstAnswer({ image, endpoints }, signal, async (endpoint) => {
      const client = await this.#pullClient(endpoint);
      const documents = new RepositoryDocuments({ client, retrying });
      return await read({ top: await documents.whole("manifest", endpoint.identifier), documents, endpoint });
    });
    if (first.kind === "failed") throw new RegistryError(first.failure);
    return first.value;
  }

  #pullClient(endpoint: Endpoint): Promise<RepositoryClient> {
    const key = keyOfEndpoint(endpoint);
    const known = this.#clients.get(key) ?? this.#newClient(endpoint, "pull");
    this.#clients.set(key, known);
    return known;
  }

  async target(endpoint: Endpoint): Promise<TargetRepository> {
    return new TargetRepository(await this.#newClient(endpoint, "pull,push"));
  }

  async #newClient(endpoint: Endpoint, rights: Rights): Promise<RepositoryClient> {
    const { access: { keyring, clientDeps }, signal } = this.#deps;
    const { host, repository } = endpoint;
    const callers = callersOf({ priority: "gated" });
    const { credentials } = credentialsToTry(await keyring.credentialsFor({ host, repository, callers }, signal));
    const context = { callers, signal, requestLog: this.#requestLog };
    return new RepositoryClient(clientDeps, { endpoint: { ...endpoint, credentials }, context, rights });
  }
}
