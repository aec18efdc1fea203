// Sends requests to one repository: logged in with one credential after another, until an answer counts.
//
//   send ─ for each credential ─ authorizeAhead ─ request ─┬─ final ─────────────────────────────────────── answered
//                                                          ├─ 429, no login ─ authorizeAtRoot ─ request ─┬─ answered
//                                                          └─ refused ─ authorizeAfterRefusal ─ request ─┤
//                                                                                                        └─ refused
//   Where all are refused and the remembered challenge was wrong, all credentials are tried a second time.
import type { Clock } from "../clock.ts";
import { LearnedChallenges } from "./auth/learned_challenges.ts";
import { type AfterRefusal, type Authorization, Login } from "./auth/login.ts";
import { TokenSource } from "./auth/token.ts";
import type { Rights } from "./auth/token_scopes.ts";
import type { Credential } from "./credential.ts";
import { RegistryError } from "./errors.ts";
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

export interface RepositoryRequest {
  readonly message: RegistryMessage;
  readonly urlBy: (scheme: "https" | "http") => URL;
  readonly signal?: AbortSignal | undefined;
  /** Whether the answer ends the search for a credential. */
  readonly isFinal: (answer: RegistryResponse, isLoggedIn: boolean) => boolean;
  /** Whether a refusal without a challenge means that the host's root must be read. */
  readonly mayReadRoot: boolean;
}

export type RepositoryAnswer =
  | { readonly kind: "answered"; readonly answer: RegistryResponse; readonly credential: Credential | undefined }
  | { readonly kind: "refused"; readonly answer: RegistryResponse | undefined };

type Refusal = Extract<RepositoryAnswer, { kind: "refused" }> & Pick<AfterRefusal, "next">;

type Attempt = Extract<RepositoryAnswer, { kind: "answered" }> | Refusal;

/** Nothing is known yet of the repository's answer: the next credential is tried. */
const INCONCLUSIVE: Refusal = { kind: "refused", answer: undefined, next: "other credential" };

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
  async send(request: RepositoryRequest): Promise<RepositoryAnswer> {
    const first = await this.#tryEach(request);
    // The remembered challenge was not that of the repository: all credentials are tried again with the right one.
    const wasWrong = first.kind === "refused" && first.next === "all as offered";
    const sent = wasWrong ? await this.#tryEach(request) : first;
    if (sent.kind === "answered" && sent.credential !== undefined) this.#login.accepted(sent.credential);
    return sent;
  }

  async #tryEach(request: RepositoryRequest): Promise<Attempt> {
    let refusal = INCONCLUSIVE;
    for (const credential of this.#login.credentials) {
      const attempt = await this.#tryOne(request, credential);
      if (attempt.kind === "answered") return attempt;
      // Some registries answer 404 where access is missing: a missing manifest weighs more than a refusal.
      const answer = refusal.answer?.status === 404 ? refusal.answer : attempt.answer ?? refusal.answer;
      refusal = { kind: "refused", answer, next: refusal.next === "all as offered" ? refusal.next : attempt.next };
      if (attempt.next === "none") break;
    }
    return refusal;
  }

  /** Sends with one credential, and once more where the first answer, or a limit, makes another login worth it. */
  async #tryOne(request: RepositoryRequest, credential: Credential | undefined): Promise<Attempt> {
    const first = await this.#login.authorizeAhead(credential);
    // A token server may refuse anonymous tokens although the repository is open: it is still tried without one.
    if (first.kind === "denied" && credential !== undefined) return INCONCLUSIVE;
    const isLoggedIn = first.kind === "header";
    const sent = await this.#send(request, first).catch(rateLimitOf);
    // That anonymous requests are limited says nothing of this credential.
    const mayLogInInstead = credential !== undefined && !isLoggedIn && isLimit(sent);
    const login = mayLogInInstead ? await this.#login.authorizeAtRoot(credential) : undefined;
    if (login?.kind === "denied") return INCONCLUSIVE;
    if (login?.kind === "header") return await this.#tryAgain(request, login, INCONCLUSIVE);
    if (sent instanceof RegistryError) throw sent;
    if (request.isFinal(sent, isLoggedIn)) return answered(sent, first);
    const { mayReadRoot } = request;
    const { again, next } = await this.#login.authorizeAfterRefusal(first, { answer: sent, mayReadRoot });
    const refusal = { kind: "refused", answer: sent, next } as const;
    return again === undefined ? refusal : await this.#tryAgain(request, again, refusal);
  }

  async #tryAgain(request: RepositoryRequest, authorization: Authorization, refusal: Refusal): Promise<Attempt> {
    const answer = await this.#send(request, authorization);
    const isFinal = request.isFinal(answer, authorization.kind === "header");
    return isFinal ? answered(answer, authorization) : { ...refusal, answer };
  }

  async #send({ message, urlBy, signal }: RepositoryRequest, authorization: Authorization): Promise<RegistryResponse> {
    const { endpoint } = this;
    const header = authorization.kind === "header" ? authorization.header : undefined;
    return await this.#deps.connections.send({
      endpoint,
      context: signal === undefined ? this.#context : { ...this.#context, signal },
      message: { ...message, authorization: header, elsewhere: this.#login.elsewhere },
      urlBy,
      account: fingerprintOf(usedBy(authorization)),
      repository: endpoint.repository,
    });
  }
}

function answered(answer: RegistryResponse, authorization: Authorization): Attempt {
  return { kind: "answered", answer, credential: usedBy(authorization) };
}

function usedBy({ kind, credential }: Authorization): Credential | undefined {
  return kind === "header" ? credential : undefined;
}

/** The error of an account whose requests are held back; throws any other. */
function rateLimitOf(error: unknown): RegistryError {
  if (error instanceof RegistryError && error.failure.reason === "RateLimited") return error;
  throw error;
}

function isLimit(sent: RegistryResponse | RegistryError): boolean {
  return sent instanceof RegistryError || sent.status === 429;
}
