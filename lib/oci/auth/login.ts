// Which login is tried when, at one repository.
//
//   for each credential, that of the last answer first and anonymous last
//     expect   the challenge that the repository sent before; else, where there are credentials, that of the host's `/v2/`
//     send     with the credential's answer to it; a credential that the token server denies is passed over
//     refused  with another challenge: begin again with the first credential, once
//              with the same challenge, for a token: send once more with a new one
//              else the next credential; none when no login was expected, as each would send the same
//
// An answer of another origin, after a redirect, is no challenge: see authorization.ts for what it gets.
import type { Credential } from "../credential.ts";
import type { AnonymousAuthorization, RegistryResponse } from "../http/exchange.ts";
import { anonymousElsewhere, type Authorization, authorize, discardTokens, type LoginDeps } from "./authorization.ts";
import { type Challenge, challengeOf, isSameLogin } from "./challenge.ts";
import { probeRoot } from "./root_challenge.ts";

/** What a request is sent with. `credential`: the one behind `authorization`, if any. */
export interface SentLogin {
  readonly authorization: string | undefined;
  readonly credential: Credential | undefined;
  /** The anonymous token for an origin that the registry redirects to, once that origin has required one. */
  readonly elsewhere: AnonymousAuthorization | undefined;
}

export interface LoginRequest {
  readonly send: (login: SentLogin) => Promise<RegistryResponse>;
  /** Whether the answer ends the search for a credential. */
  readonly isFinal: (answer: RegistryResponse, isLoggedIn: boolean) => boolean;
}

export type RepositoryAnswer =
  | { readonly kind: "answered"; readonly answer: RegistryResponse; readonly credential: Credential | undefined }
  | { readonly kind: "refused"; readonly answer: RegistryResponse | undefined };

interface Attempt {
  readonly credential: Credential | undefined;
  readonly expected: Challenge | undefined;
  readonly authorization: Authorization;
}

export class Login {
  readonly #deps: LoginDeps;
  #offered: Challenge | undefined;
  #accepted: readonly Credential[] = [];
  #elsewhere: AnonymousAuthorization | undefined;

  constructor(deps: LoginDeps) {
    this.#deps = deps;
  }

  /** Throws RegistryError if the token server fails or a password needs plain HTTP, and what `send` throws. */
  async send(request: LoginRequest): Promise<RepositoryAnswer> {
    const sent = await this.#tryEach(request, "begin again");
    if (sent.kind === "answered" && sent.credential !== undefined) this.#accepted = [sent.credential];
    return sent;
  }

  async #tryEach(request: LoginRequest, atOtherChallenge: "begin again" | "go on"): Promise<RepositoryAnswer> {
    let refusal: RegistryResponse | undefined;
    for (const credential of [...new Set([...this.#accepted, ...this.#deps.endpoint.credentials]), undefined]) {
      const expected = await this.#expected(credential);
      const tried = { credential, expected, authorization: await authorize(this.#deps, credential, expected) };
      // A token server may refuse anonymous tokens although the repository is open: it is still tried without one.
      if (tried.authorization.kind === "denied" && credential !== undefined) continue;
      const sent = await this.#send(request, tried);
      if (sent.kind === "answered") return sent;
      const { answer } = sent;
      const offered = this.#offeredBy(answer, tried);
      const isOther = offered !== undefined && !(expected !== undefined && isSameLogin(expected, offered));
      if (isOther && atOtherChallenge === "begin again") return await this.#tryEach(request, "go on");
      const again = await this.#sendAgain(request, { tried, answer, offered });
      if (again?.kind === "answered") return again;
      // Some registries answer 404 where access is missing: a missing manifest weighs more than a refusal.
      if (refusal?.status !== 404) refusal = again?.answer ?? answer;
      if (expected === undefined) break;
    }
    return { kind: "refused", answer: refusal };
  }

  async #expected(credential: Credential | undefined): Promise<Challenge | undefined> {
    const { challenges, context: { signal }, endpoint } = this.#deps;
    const known = this.#offered ?? challenges.own(endpoint, credential);
    if (known !== undefined || endpoint.credentials.length === 0) return known;
    return await challenges.readRoot(endpoint, { probe: () => probeRoot(this.#deps), signal });
  }

  async #send({ send, isFinal }: LoginRequest, { authorization, credential }: Attempt): Promise<
    RepositoryAnswer & { readonly answer: RegistryResponse }
  > {
    const isLoggedIn = authorization.kind === "header";
    const used = isLoggedIn ? credential : undefined;
    const header = isLoggedIn ? authorization.header : undefined;
    const answer = await send({ authorization: header, credential: used, elsewhere: this.#elsewhere });
    return isFinal(answer, isLoggedIn) ? { kind: "answered", answer, credential: used } : { kind: "refused", answer };
  }

  /** The repository's own challenge; undefined when the answer has no valid one. */
  #offeredBy(answer: RegistryResponse, { credential, authorization }: Attempt): Challenge | undefined {
    const isRefused = answer.status === 401 || answer.status === 403 && authorization.kind !== "header";
    const challenge = isRefused && answer.redirect?.isSameOrigin !== false ? challengeOf(answer.headers) : undefined;
    if (challenge === undefined) return undefined;
    this.#offered = challenge;
    this.#deps.challenges.learnOwn(this.#deps.endpoint, { credential, challenge });
    return challenge;
  }

  /** Sends once more with a new token, or with one for where the registry redirects to. Undefined without one. */
  async #sendAgain(request: LoginRequest, { tried, answer, offered }: {
    readonly tried: Attempt;
    readonly answer: RegistryResponse;
    readonly offered: Challenge | undefined;
  }): Promise<RepositoryAnswer & { readonly answer: RegistryResponse } | undefined> {
    if (tried.authorization.kind !== "header") {
      const elsewhere = offered === undefined ? await anonymousElsewhere(this.#deps, answer) : undefined;
      if (elsewhere === undefined) return undefined;
      this.#elsewhere = elsewhere;
      return await this.#send(request, tried);
    }
    if (offered?.kind !== "bearer") return undefined;
    discardTokens(this.#deps, tried.credential, offered);
    const authorization = await authorize(this.#deps, tried.credential, offered);
    return authorization.kind === "header" ? await this.#send(request, { ...tried, authorization }) : undefined;
  }
}
