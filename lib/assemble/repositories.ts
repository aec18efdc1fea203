// The repositories of one run: what references resolve to, a client for each repository, and the requests of all together.
import type { Clock } from "../clock.ts";
import type { RegistryAccess } from "../images/registry_access.ts";
import { type LearnedChallenges, openLearnedChallenges } from "../oci/auth/learned_challenges.ts";
import { matchCredentials } from "../oci/credentials/match.ts";
import { inspectionError } from "../oci/errors.ts";
import { type ConnectionVariants, openConnectionVariants } from "../oci/http/connection_variants.ts";
import { callersOf } from "../oci/limits/callers.ts";
import { TargetRepository } from "../oci/push/target_repository.ts";
import type { Endpoint, PullPlan } from "../oci/pull_plan.ts";
import { parseReference } from "../oci/reference.ts";
import { RepositoryClient } from "../oci/repository_client.ts";
import { RequestLog } from "../oci/request_log.ts";

/** What they are opened with. */
export interface RepositoriesDeps {
  readonly access: Pick<RegistryAccess, "planner" | "keyring" | "transport" | "limiter" | "tokens">;
  readonly clock: Clock;
  /** Ends every request. */
  readonly signal: AbortSignal;
}

/** The repositories. */
export class Repositories {
  readonly #deps: RepositoriesDeps;
  readonly #challenges: LearnedChallenges = openLearnedChallenges();
  readonly #variants: ConnectionVariants = openConnectionVariants();
  readonly #log = new RequestLog();
  readonly #readers = new Map<string, Promise<RepositoryClient>>();

  /** No request is sent yet. */
  constructor(deps: RepositoriesDeps) {
    this.#deps = deps;
  }

  /** Requests so far. */
  get requests(): number {
    return Object.values(this.#log.counts).reduce((sum, count) => sum + count, 0);
  }

  /** Where an image may be read from. */
  plan(image: string): PullPlan {
    return this.#deps.access.planner.plan(image);
  }

  /** The place that an image is pushed to: never a mirror. Throws InspectionError when there is none. */
  targetOf(image: string): Endpoint {
    const parsed = parseReference(image);
    if (parsed.kind === "unparsable") throw inspectionError("InvalidReference", parsed.message);
    const plan = this.plan(image);
    if (plan.kind === "refused") throw inspectionError(plan.failure.reason, plan.failure.message);
    const endpoint = plan.endpoints.find(({ mirror }) => !mirror);
    if (endpoint !== undefined) return endpoint;
    throw inspectionError("Misconfigured", `Cannot push "${image}": only mirrors are configured for it.`);
  }

  /** The client to read a place with; one for all that read there. */
  reader(endpoint: Endpoint): Promise<RepositoryClient> {
    const { host, pathPrefix, repository, namespace, transport: { scheme } } = endpoint;
    const key = JSON.stringify([scheme, host, pathPrefix, repository, namespace]);
    const known = this.#readers.get(key) ?? this.#client(endpoint, "pull");
    this.#readers.set(key, known);
    return known;
  }

  /** The repository to write to. */
  async target(endpoint: Endpoint): Promise<TargetRepository> {
    const { clock } = this.#deps;
    return new TargetRepository({ client: await this.#client(endpoint, "pull,push"), clock });
  }

  async #client(endpoint: Endpoint, rights: "pull" | "pull,push"): Promise<RepositoryClient> {
    const { access, clock, signal } = this.#deps;
    const { transport, tokens, limiter, keyring } = access;
    const credentials = matchCredentials(await keyring.lookup(endpoint, signal), endpoint);
    const context = { credentials, callers: callersOf({ priority: "gated" }), signal, log: this.#log };
    const shared = { transport, tokens, limiter, clock, challenges: this.#challenges, variants: this.#variants };
    return new RepositoryClient(shared, { endpoint, context, rights });
  }
}

/** Whether two places are one repository. */
export function isSameRepository(left: Endpoint, right: Endpoint): boolean {
  return isSameRegistry(left, right) && left.repository === right.repository;
}

/** Whether two places are of one registry, so that blobs can be mounted from one to the other. */
export function isSameRegistry(left: Endpoint, right: Endpoint): boolean {
  return left.host === right.host && left.pathPrefix === right.pathPrefix && left.namespace === right.namespace;
}
