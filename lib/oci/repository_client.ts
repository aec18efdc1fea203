// Sends requests to one repository, with one login after the other until an answer is final. Which login is tried when:
//
//   for each credential, that of the last answer first and anonymous last
//     expect   the challenge that the repository sent before
//              else that of the host's `/v2/`, where there are credentials, or another repository has sent one
//     send     with the credential's answer to it; a credential that the token server denies is passed over
//     refused  what auth/next_login.ts says; nothing more when no login was expected, as each would send the same
//
// A challenge of another origin, after a redirect, is not the repository's: see auth/authorization.ts for what is sent
// there.
import type { Clock } from "../clock.ts";
import { type Authorization, authorize, discardTokens, loginAtRedirect, type LoginDeps } from "./auth/authorization.ts";
import { type Challenge, challengeOf } from "./auth/challenge.ts";
import { LearnedChallenges } from "./auth/learned_challenges.ts";
import { type NextLogin, nextLogin } from "./auth/next_login.ts";
import { probeRoot } from "./auth/root_challenge.ts";
import { TokenSource } from "./auth/token.ts";
import type { Credential } from "./credential.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { Connections } from "./http/connections.ts";
import type { AnonymousAuthorization, RegistryMessage, RegistryResponse } from "./http/exchange.ts";
import type { Transport } from "./http/transport.ts";
import { groupOf } from "./limits/failing_groups.ts";
import type { HostLimiters } from "./limits/host_limiters.ts";
import type { WorkLimits } from "./limits/work_limits.ts";
import type { EndpointWithCredentials } from "./endpoint.ts";

/** What clients are made with. Clients made with the same parts share what they learn about hosts and repositories. */
export interface RepositoryClientDeps {
  readonly connections: Connections;
  readonly tokens: TokenSource;
  readonly challenges: LearnedChallenges;
  readonly limits: WorkLimits;
}

export function makeClientDeps({ transport, hosts, limits, clock }: {
  readonly transport: Transport;
  readonly hosts: HostLimiters;
  readonly limits: WorkLimits;
  readonly clock: Clock;
}): RepositoryClientDeps {
  const connections = new Connections(transport, hosts, clock);
  const tokens = new TokenSource({ transport, hosts, clock });
  const challenges = new LearnedChallenges({
    clock,
    probe: (endpoint, context) => probeRoot(connections, { endpoint, context }),
  });
  return { connections, tokens, challenges, limits };
}

export interface RepositoryRequest {
  readonly message: RegistryMessage;
  readonly urlBy: (scheme: "https" | "http") => URL;
  /** Whether the answer ends the search for a credential. */
  readonly isFinal: (response: RegistryResponse, isLoggedIn: boolean) => boolean;
  readonly signal?: AbortSignal | undefined;
}

export type RepositoryOutcome =
  | { readonly kind: "answered"; readonly response: RegistryResponse }
  | { readonly kind: "refused"; readonly response: RegistryResponse | undefined };

/** What came of one request. `open`: another login may get another answer. */
type Sent =
  | Extract<RepositoryOutcome, { readonly kind: "answered" }>
  | { readonly kind: "open"; readonly response: RegistryResponse };

interface Attempt {
  readonly credential: Credential | undefined;
  readonly authorization: Authorization;
}

export class RepositoryClient {
  readonly #login: LoginDeps;
  readonly #limits: WorkLimits;
  #offered: Challenge | undefined;
  #lastUsed: Credential | undefined;
  /** The anonymous token for an origin that the registry redirects to, once that origin has required one. */
  #redirectLogin: AnonymousAuthorization | undefined;

  constructor(
    { limits, ...deps }: RepositoryClientDeps,
    options: Pick<LoginDeps, "endpoint" | "context" | "rights">,
  ) {
    this.#limits = limits;
    this.#login = { ...deps, ...options };
  }

  get endpoint(): EndpointWithCredentials {
    return this.#login.endpoint;
  }

  /** The credential of the last request with a credential that got a final answer. */
  get lastUsedCredential(): Credential | undefined {
    return this.#lastUsed;
  }

  /** Calls `work`, which parses this answer, within the limit of parsing. */
  parseInTurn<T>({ body }: RegistryResponse, work: () => T): Promise<T> {
    return this.#limits.parseInTurn(work, { ...this.#login.context, bytes: body.byteLength });
  }

  /** Throws RegistryError if the token server fails, a password would go over plain HTTP, or no answer comes. */
  async send(request: RepositoryRequest): Promise<RepositoryOutcome> {
    return await this.#tryEach(request, { mayBeginAgain: true });
  }

  async #tryEach(request: RepositoryRequest, { mayBeginAgain }: { readonly mayBeginAgain: boolean }): Promise<
    RepositoryOutcome
  > {
    let refusal: RegistryResponse | undefined;
    for (const credential of this.#inOrder()) {
      const expected = await this.#expected(credential);
      const tried = { credential, authorization: await authorize(this.#login, credential, expected) };
      // A token server may refuse anonymous tokens although the repository is open: then the request has no token.
      if (tried.authorization.kind === "denied" && credential !== undefined) continue;
      const sent = await this.#send(request, tried);
      if (sent.kind === "answered") return sent;
      const isLoggedIn = tried.authorization.kind === "header";
      const offered = this.#offeredBy(sent.response, tried);
      const next = nextLogin({ expected, offered, isLoggedIn, mayBeginAgain });
      if (next.kind === "beginAgain") return await this.#tryEach(request, { mayBeginAgain: false });
      const again = await this.#sendAgain(request, { tried, response: sent.response, next });
      if (again?.kind === "answered") return again;
      // Some registries answer 404 where access is missing: a missing manifest weighs more than a refusal.
      if (refusal?.status !== 404) refusal = (again ?? sent).response;
      if (expected === undefined) break;
    }
    return { kind: "refused", response: refusal };
  }

  #inOrder(): Iterable<Credential | undefined> {
    const credentials = new Set([this.#lastUsed, ...this.#login.endpoint.credentials]);
    credentials.delete(undefined);
    return credentials.add(undefined);
  }

  async #expected(credential: Credential | undefined): Promise<Challenge | undefined> {
    const { challenges, context, endpoint } = this.#login;
    const known = this.#offered ?? challenges.ofRepository(endpoint, credential);
    if (known !== undefined) return known;
    // An open registry gets no request for a challenge that it does not have.
    if (endpoint.credentials.length === 0 && !challenges.wantsLogin(endpoint)) return undefined;
    return await challenges.readRoot(endpoint, context);
  }

  async #send(
    { message, urlBy, isFinal, signal }: RepositoryRequest,
    { authorization, credential }: Attempt,
  ): Promise<Sent> {
    const { connections, context, endpoint } = this.#login;
    const isLoggedIn = authorization.kind === "header";
    const used = isLoggedIn ? credential : undefined;
    const header = isLoggedIn ? authorization.header : undefined;
    const response = await connections.send({
      endpoint,
      context: { ...context, signal: signal ?? context.signal },
      message: { ...message, authorization: header, redirectLogin: this.#redirectLogin },
      urlBy,
      account: fingerprintOf(used),
      group: groupOf(endpoint.repository),
    });
    if (!isFinal(response, isLoggedIn)) return { kind: "open", response };
    if (used !== undefined) this.#lastUsed = used;
    return { kind: "answered", response };
  }

  /** The repository's own challenge; undefined when the answer has no valid one. */
  #offeredBy(response: RegistryResponse, { credential, authorization }: Attempt): Challenge | undefined {
    const isRefused = response.status === 401 || response.status === 403 && authorization.kind !== "header";
    const challenge = isRefused && response.redirect?.isSameOrigin !== false
      ? challengeOf(response.headers)
      : undefined;
    if (challenge === undefined) return undefined;
    this.#offered = challenge;
    this.#login.challenges.learn(this.#login.endpoint, { credential, challenge });
    return challenge;
  }

  /** Sends once more with a new token, or with one for the origin of a redirect. Undefined when there is no token. */
  async #sendAgain(request: RepositoryRequest, { tried, response, next }: {
    readonly tried: Attempt;
    readonly response: RegistryResponse;
    readonly next: NextLogin;
  }): Promise<Sent | undefined> {
    if (next.kind === "loginAtRedirect") {
      const redirectLogin = await loginAtRedirect(this.#login, response);
      if (redirectLogin === undefined) return undefined;
      this.#redirectLogin = redirectLogin;
      return await this.#send(request, tried);
    }
    if (next.kind !== "renewToken") return undefined;
    discardTokens(this.#login, tried.credential, next.challenge);
    const authorization = await authorize(this.#login, tried.credential, next.challenge);
    return authorization.kind === "header" ? await this.#send(request, { ...tried, authorization }) : undefined;
  }
}
