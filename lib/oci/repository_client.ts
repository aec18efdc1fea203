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
import { InspectionError } from "./errors.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { Connections } from "./http/connections.ts";
import type { RegistryRequest, RegistryResponse } from "./http/exchange.ts";
import type { Transport } from "./http/transport.ts";
import type { InspectionContext } from "./request_log.ts";
import type { ImageLimits } from "./limits/image_limits.ts";
import { pauseOf } from "./limits/outcome.ts";
import type { RequestLimiter } from "./limits/request_limiter.ts";
import type { PlannedEndpoint } from "./pull_plan.ts";

/** What clients are made with. What they find out about hosts and repositories is shared by all that are made with the same. */
export interface RepositoryClientDeps {
  readonly connections: Connections;
  readonly tokens: TokenSource;
  readonly challenges: LearnedChallenges;
  readonly limits: ImageLimits;
  readonly clock: Clock;
}

export function makeClientDeps({ transport, limiter, limits, clock }: Pick<RepositoryClientDeps, "limits" | "clock"> & {
  readonly transport: Transport;
  readonly limiter: RequestLimiter;
}): RepositoryClientDeps {
  const connections = new Connections(transport, limiter);
  const tokens = new TokenSource({ transport, limiter, clock });
  return { connections, tokens, challenges: new LearnedChallenges(), limits, clock };
}

interface RepositoryClientOptions {
  readonly endpoint: PlannedEndpoint;
  readonly context: InspectionContext;
  readonly rights: Rights;
}

export type RepositoryMessage = Pick<
  RegistryRequest,
  "kind" | "method" | "maxBytes" | "accept" | "body" | "timeouts" | "isStreamed"
>;

export interface RepositoryRequest {
  readonly message: RepositoryMessage;
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

type Refusal = Extract<RepositoryAnswer, { kind: "refused" }> & Omit<AfterRefusal, "again">;

type Attempt = Extract<RepositoryAnswer, { kind: "answered" }> | Refusal;

/** Nothing is known yet of the repository's answer: the next credential is tried. */
const INCONCLUSIVE: Refusal = {
  kind: "refused",
  answer: undefined,
  isNextCredentialUseful: true,
  wasWrongChallenge: false,
};

export class RepositoryClient {
  readonly endpoint: PlannedEndpoint;
  readonly context: InspectionContext;
  readonly #deps: RepositoryClientDeps;
  readonly #login: Login;

  constructor(deps: RepositoryClientDeps, { endpoint, context, rights }: RepositoryClientOptions) {
    this.#deps = deps;
    this.endpoint = endpoint;
    this.context = context;
    this.#login = new Login({ ...deps, endpoint, context, rights });
  }

  get limits(): ImageLimits {
    return this.#deps.limits;
  }

  pauseOf(answer: RegistryResponse): number | undefined {
    return pauseOf(answer, this.#deps.clock.nowMs());
  }

  /** Sends with one credential after the other, anonymous last, until an answer is final. */
  async send(
    request: RepositoryRequest,
    credentials: readonly (Credential | undefined)[] = [...this.endpoint.credentials, undefined],
  ): Promise<RepositoryAnswer> {
    const first = await this.#tryEach(request, credentials);
    // The cached challenge was not that of the repository: try all credentials again with the right one.
    const wasWrongChallenge = first.kind === "refused" && first.wasWrongChallenge;
    return wasWrongChallenge ? await this.#tryEach(request, credentials) : first;
  }

  async #tryEach(request: RepositoryRequest, credentials: readonly (Credential | undefined)[]): Promise<Attempt> {
    let refusal = INCONCLUSIVE;
    for (const credential of credentials) {
      const attempt = await this.#tryOne(request, credential);
      if (attempt.kind === "answered") return attempt;
      // Some registries answer 404 where access is missing: a missing manifest weighs more than a refusal.
      const answer = refusal.answer?.status === 404 ? refusal.answer : attempt.answer ?? refusal.answer;
      refusal = { ...attempt, answer, wasWrongChallenge: refusal.wasWrongChallenge || attempt.wasWrongChallenge };
      if (!attempt.isNextCredentialUseful) break;
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
    if (sent instanceof InspectionError) throw sent;
    if (request.isFinal(sent, isLoggedIn)) return answered(sent, first);
    const { mayReadRoot } = request;
    const { again, ...outlook } = await this.#login.authorizeAfterRefusal(first, { answer: sent, mayReadRoot });
    const refusal = { kind: "refused", answer: sent, ...outlook } as const;
    return again === undefined ? refusal : await this.#tryAgain(request, again, refusal);
  }

  async #tryAgain(request: RepositoryRequest, authorization: Authorization, refusal: Refusal): Promise<Attempt> {
    const answer = await this.#send(request, authorization);
    const isFinal = request.isFinal(answer, authorization.kind === "header");
    return isFinal ? answered(answer, authorization) : { ...refusal, answer };
  }

  async #send(
    { message, urlBy, signal = this.context.signal }: RepositoryRequest,
    authorization: Authorization,
  ): Promise<RegistryResponse> {
    const { endpoint, context } = this;
    const header = authorization.kind === "header" ? authorization.header : undefined;
    return await this.#deps.connections.send({
      endpoint,
      context,
      message: { ...message, authorization: header, anonymous: this.#login.elsewhere },
      urlBy,
      signal,
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
function rateLimitOf(error: unknown): InspectionError {
  if (error instanceof InspectionError && error.failure.reason === "RateLimited") return error;
  throw error;
}

function isLimit(sent: RegistryResponse | InspectionError): boolean {
  return sent instanceof InspectionError || sent.status === 429;
}
