// Logs in to one repository: which challenge to answer, and with what. A password is sent only as
// learned_challenges.ts allows, or for a challenge just received without a redirect to another origin.
//
//                          answers the challenge of
//   authorizeAhead         the repository, if learned before; else the root of the host, if known or required
//   authorizeAfterRefusal  the refusal; else the root; else, anonymously, an origin that the registry redirects to
//   authorizeAtRoot        the root
//
// What a document costs: requests of it (D), of the host's `/v2/` (R) and of tokens (T). Of each part one row applies.
//
//                                                     a password is wanted   a token is wanted
//   known     nothing of the host                     D                      D
//             another repository wanted a login       R, once in 10 minutes  R, once in 10 minutes
//             the repository's challenge              –                      –
//   refused   each credential, in match.ts's order    D                      T; T D with a token for other documents
//   accepted  a credential                            D                      T D; D while its token is kept
//             none: anonymous at last                 D                      T D
//
// The login to a repository begins with the credential of its last answer. What is rare costs, in addition or instead:
//   no credential matches: the first D is anonymous   D alone                D T, and D with a token that is given
//   429, or a GET refused without a challenge         R, once, and the rows of what it wants
//   401 for a token: revoked, or without the right    T D again
//   a proxy names the scope of its upstream           T, where its scope and ours are refused together
//   a redirect to an origin that wants a token        T D
//   another challenge than was known                  each credential again, once
// request_limiter.ts sends again after pauses, connections.ts by each way to connect, transport.ts for each redirect.
import { orAborted } from "../../clock.ts";
import type { Credential } from "../credential.ts";
import { RegistryError, registryError } from "../errors.ts";
import type { Connections } from "../http/connections.ts";
import { type AnonymousAuthorization, isSendable, type RegistryResponse } from "../http/exchange.ts";
import { rootUrl } from "../image/document.ts";
import type { RequestContext } from "../inspection.ts";
import { connectionElsewhere, type Endpoint, type PlannedEndpoint } from "../pull_plan.ts";
import { type Challenge, parseChallenges } from "./challenge.ts";
import type { LearnedChallenges, RootReader } from "./learned_challenges.ts";
import { type NextLogin, nextLogin } from "./next_login.ts";
import { basicAuthorization, type TokenRequest, type TokenSource } from "./token.ts";
import { ownScope, type Rights, scopeChoices } from "./token_scopes.ts";

type Header =
  | { readonly kind: "header"; readonly header: string }
  /** There is no challenge to answer, or no credential to answer it with. */
  | { readonly kind: "none" }
  /** The token server refused the credential, or it does not fit the challenge. */
  | { readonly kind: "denied" };

/** A credential's answer to a challenge. */
export type Authorization = Header & {
  readonly credential: Credential | undefined;
  readonly challenge: Challenge | undefined;
};

export interface AfterRefusal {
  /** The authorization to retry with; undefined when a retry would get the same answer. */
  readonly again: Authorization | undefined;
  readonly next: NextLogin;
}

interface LoginDeps {
  readonly connections: Connections;
  readonly tokens: TokenSource;
  readonly challenges: LearnedChallenges;
  readonly endpoint: PlannedEndpoint;
  readonly context: RequestContext;
  readonly rights: Rights;
}

type BearerChallenge = Extract<Challenge, { readonly kind: "bearer" }>;

/** A separate account: `/v2/` can be read while anonymous requests are rate limited. */
const ROOT_ACCOUNT = "/v2/";
const MAX_ROOT_BYTES = 1024 * 1024;

export class Login {
  readonly #deps: LoginDeps;
  readonly #rootReader: RootReader;
  #offered: Challenge | undefined;
  #accepted: readonly Credential[] = [];
  #elsewhere: AnonymousAuthorization | undefined;

  constructor(deps: LoginDeps) {
    this.#deps = deps;
    this.#rootReader = { probe: () => this.#probeRoot(), signal: deps.context.signal };
  }

  /** In the order in which to try them: that of the last answer first, and anonymous last. */
  get credentials(): readonly (Credential | undefined)[] {
    return [...new Set([...this.#accepted, ...this.#deps.endpoint.credentials]), undefined];
  }

  /** The registry answered a request that was logged in with it. */
  accepted(credential: Credential): void {
    this.#accepted = [credential];
  }

  /** The anonymous token for another origin that the registry redirects to, once that origin has required one. */
  get elsewhere(): AnonymousAuthorization | undefined {
    return this.#elsewhere;
  }

  /** Answers the expected challenge before the repository sends one. Throws like {@link authorizeAfterRefusal}. */
  async authorizeAhead(credential: Credential | undefined): Promise<Authorization> {
    const { challenges, endpoint } = this.#deps;
    const known = this.#offered ?? challenges.own(endpoint, credential);
    return await this.#authorize(credential, known ?? await challenges.root(endpoint, this.#rootReader));
  }

  /** Answers the challenge of the host's root while anonymous requests are limited. Undefined when that fails. */
  async authorizeAtRoot(credential: Credential): Promise<Authorization | undefined> {
    const { challenges, endpoint } = this.#deps;
    try {
      return await this.#authorize(credential, await challenges.readRoot(endpoint, this.#rootReader));
    } catch (error) {
      if (error instanceof RegistryError) return undefined;
      throw error;
    }
  }

  /** What to do after a refusal. Throws RegistryError if the token server fails or a password needs plain HTTP. */
  async authorizeAfterRefusal(
    tried: Authorization,
    { answer, mayReadRoot }: { readonly answer: RegistryResponse; readonly mayReadRoot: boolean },
  ): Promise<AfterRefusal> {
    const { challenges, endpoint } = this.#deps;
    const { credential } = tried;
    const isLoggedIn = tried.kind === "header";
    // Open registries may answer 404 or 403 without a challenge for private repositories.
    const mayRootSay = !isLoggedIn && credential !== undefined && mayReadRoot;
    const offered = this.#offeredBy(answer, tried) ??
      (mayRootSay ? await challenges.readRoot(endpoint, this.#rootReader) : undefined);
    const next = nextLogin(tried, offered);
    if (offered === undefined) {
      return { next, again: isLoggedIn ? undefined : await this.#anonymouslyElsewhere(answer) };
    }
    if (next === "other credential") return { next, again: undefined };
    if (isLoggedIn && offered.kind === "bearer") this.#discardTokens(credential, offered);
    const again = await this.#authorize(credential, offered);
    return { next, again: again.kind === "header" ? again : undefined };
  }

  /** The repository's own challenge for the credential; undefined when the answer has no valid one. */
  #offeredBy(answer: RegistryResponse, { credential, kind }: Authorization): Challenge | undefined {
    const isRefused = answer.status === 401 || answer.status === 403 && kind !== "header";
    const challenge = isRefused && answer.redirect?.isSameOrigin !== false ? challengeOf(answer) : undefined;
    if (challenge === undefined) return undefined;
    this.#offered = challenge;
    this.#deps.challenges.learnOwn(this.#deps.endpoint, { credential, challenge });
    return challenge;
  }

  async #authorize(credential: Credential | undefined, challenge: Challenge | undefined): Promise<Authorization> {
    return { credential, challenge, ...await this.#headerFor(credential, challenge) };
  }

  /** Throws Unauthorized instead of sending a password over plain HTTP to a registry that was not declared insecure. */
  async #headerFor(credential: Credential | undefined, challenge: Challenge | undefined): Promise<Header> {
    if (challenge === undefined) return { kind: "none" };
    if (credential !== undefined) assertSafe(this.#deps.endpoint);
    const secret = credential?.secret;
    if (secret?.kind === "registry") {
      return isSendable(secret.token) ? { kind: "header", header: `Bearer ${secret.token}` } : { kind: "denied" };
    }
    if (challenge.kind === "bearer") return await this.#fetchToken(credential, challenge);
    if (secret === undefined) return { kind: "none" };
    // A refresh token is not a password. A request without it would be anonymous, which is tried last.
    return secret.kind === "identity" ? { kind: "denied" } : { kind: "header", header: basicAuthorization(secret) };
  }

  async #fetchToken(credential: Credential | undefined, challenge: BearerChallenge): Promise<Header> {
    const { challenges, context, endpoint, tokens } = this.#deps;
    try {
      for (const request of this.#tokenRequests(credential, challenge)) {
        // Others may wait for the same token: cancelling one caller does not end the request.
        const answer = await orAborted(tokens.get(request), context.signal);
        if (answer.kind === "token") return { kind: "header", header: `Bearer ${answer.token}` };
      }
      return { kind: "denied" };
    } catch (error) {
      challenges.forget(endpoint, credential);
      throw error;
    }
  }

  #discardTokens(credential: Credential | undefined, challenge: BearerChallenge): void {
    for (const request of this.#tokenRequests(credential, challenge)) this.#deps.tokens.discard(request);
  }

  #tokenRequests(credential: Credential | undefined, challenge: BearerChallenge): readonly TokenRequest[] {
    const { connections, context, endpoint, rights } = this.#deps;
    const { repository } = endpoint;
    const own = { ...endpoint, connection: connections.settingsFor(endpoint) };
    return scopeChoices(challenge.scope, { repository, rights })
      .map((scopes) => ({ endpoint: own, challenge, scopes, credential, context }));
  }

  /** A registry may redirect to another that requires an anonymous token even for public images. */
  async #anonymouslyElsewhere(answer: RegistryResponse): Promise<Authorization | undefined> {
    const { context, endpoint, rights, tokens } = this.#deps;
    const { redirect, status } = answer;
    const challenge = challengeOf(answer);
    if (status !== 401 || redirect === undefined || redirect.isSameOrigin || challenge?.kind !== "bearer") {
      return undefined;
    }
    const { origin } = redirect;
    const target = new URL(origin);
    const connection = connectionElsewhere(endpoint.connection, endpoint.host, target);
    const scope = challenge.scope || ownScope({ repository: endpoint.repository, rights });
    const elsewhere = { ...endpoint, host: target.host, connection };
    const asked = tokens.get({ endpoint: elsewhere, challenge, scopes: [scope], credential: undefined, context });
    const token = await orAborted(asked, context.signal);
    if (token.kind === "denied") return undefined;
    this.#elsewhere = { origin, authorization: `Bearer ${token.token}` };
    return { kind: "none", credential: undefined, challenge: undefined };
  }

  /** Shared by several callers, so no caller's signal ends it. Its scope is dropped: it belongs to no repository. */
  async #probeRoot(): Promise<Challenge | undefined> {
    const { connections, endpoint, context } = this.#deps;
    const answer = await connections.send({
      endpoint,
      context: { ...context, signal: new AbortController().signal },
      message: { kind: "other", method: "GET", maxBytes: MAX_ROOT_BYTES },
      urlBy: (scheme) => rootUrl(endpoint, scheme),
      account: ROOT_ACCOUNT,
      repository: "",
    });
    const { status, redirect } = answer;
    const isBroken = status === 429 || status >= 500;
    if (isBroken) throw registryError("ServerError", `Cannot read "${endpoint.host}/v2/": it answered ${status}.`);
    const challenge = redirect === undefined ? challengeOf(answer) : undefined;
    return challenge?.kind === "bearer" ? { ...challenge, scope: "" } : challenge;
  }
}

/** The challenge to answer: a token rather than the password itself. */
function challengeOf(answer: RegistryResponse): Challenge | undefined {
  const offered = parseChallenges(answer.headers.get("www-authenticate") ?? "");
  return offered.find(({ kind }) => kind === "bearer") ?? offered[0];
}

function assertSafe(endpoint: Endpoint): void {
  if (endpoint.connection.scheme !== "http" || endpoint.connection.declared) return;
  const message =
    `Cannot log in to "${endpoint.host}": it is reached over plain HTTP. Declare it with --insecure-registry.`;
  throw registryError("Unauthorized", message, { registry: endpoint.host });
}
