// Sends requests to one repository: auth/login.ts says with which login, http/connections.ts over which connection.
import type { Clock } from "../clock.ts";
import { LearnedChallenges } from "./auth/learned_challenges.ts";
import { Login, type LoginRequest, type RepositoryAnswer, type SentLogin } from "./auth/login.ts";
import { TokenSource } from "./auth/token.ts";
import type { Rights } from "./auth/token_scopes.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { Connections } from "./http/connections.ts";
import type { RegistryMessage, RegistryResponse } from "./http/exchange.ts";
import type { Transport } from "./http/transport.ts";
import type { RequestContext } from "./inspection.ts";
import type { WorkLimits } from "./limits/work_limits.ts";
import { pauseOf } from "./limits/outcome.ts";
import type { RequestLimiter } from "./limits/request_limiter.ts";
import type { PlannedEndpoint } from "./pull_plan.ts";

/** What clients are made with. What they find out about hosts and repositories is shared by all that are made with the same. */
export interface RepositoryClientDeps {
  readonly connections: Connections;
  readonly tokens: TokenSource;
  readonly challenges: LearnedChallenges;
  readonly limits: WorkLimits;
  readonly clock: Clock;
}

export function makeClientDeps({ transport, limiter, limits, clock }: Pick<RepositoryClientDeps, "limits" | "clock"> & {
  readonly transport: Transport;
  readonly limiter: RequestLimiter;
}): RepositoryClientDeps {
  const connections = new Connections(transport, limiter, clock);
  const tokens = new TokenSource({ transport, limiter, clock });
  return { connections, tokens, challenges: new LearnedChallenges(clock), limits, clock };
}

interface RepositoryClientOptions {
  readonly endpoint: PlannedEndpoint;
  readonly context: RequestContext;
  readonly rights: Rights;
}

export interface RepositoryRequest extends Pick<LoginRequest, "isFinal"> {
  readonly message: RegistryMessage;
  readonly urlBy: (scheme: "https" | "http") => URL;
  readonly signal?: AbortSignal | undefined;
}

export class RepositoryClient {
  readonly endpoint: PlannedEndpoint;
  readonly #context: RequestContext;
  readonly #deps: RepositoryClientDeps;
  readonly #login: Login;

  constructor(deps: RepositoryClientDeps, { endpoint, context, rights }: RepositoryClientOptions) {
    this.#deps = deps;
    this.endpoint = endpoint;
    this.#context = context;
    this.#login = new Login({ ...deps, endpoint, context, rights });
  }

  /** Calls `work`, which parses this answer, within the limit of parsing. */
  parse<T>({ body }: RegistryResponse, work: () => T): Promise<T> {
    return this.#deps.limits.parse(work, { ...this.#context, bytes: body.byteLength, registry: this.endpoint.host });
  }

  pauseOf(answer: RegistryResponse): number | undefined {
    return pauseOf(answer, this.#deps.clock.nowMs());
  }

  /** Sends with one credential after the other until an answer is final. */
  send(request: RepositoryRequest): Promise<RepositoryAnswer> {
    return this.#login.send({ send: (login) => this.#sendAs(login, request), isFinal: request.isFinal });
  }

  #sendAs({ authorization, credential, elsewhere }: SentLogin, request: RepositoryRequest): Promise<RegistryResponse> {
    const { endpoint } = this;
    const { message, urlBy, signal = this.#context.signal } = request;
    return this.#deps.connections.send({
      endpoint,
      context: { ...this.#context, signal },
      message: { ...message, authorization, elsewhere },
      urlBy,
      account: fingerprintOf(credential),
      repository: endpoint.repository,
    });
  }
}
