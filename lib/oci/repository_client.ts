// Sends requests to one repository: within the limits of its host, logged in with one credential after another.
import type { Clock } from "../clock.ts";
import { type Challenge, isSameLogin } from "./auth/challenge.ts";
import type { LearnedChallenges } from "./auth/learned_challenges.ts";
import { type Authorization, Login } from "./auth/login.ts";
import type { TokenSource } from "./auth/token.ts";
import type { Credential } from "./credential.ts";
import { credentialsFor } from "./credentials/match.ts";
import { InspectionError } from "./errors.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { ConnectionVariants } from "./http/connection_variants.ts";
import type { AnonymousAuthorization, Answer, Exchange } from "./http/exchange.ts";
import type { Transport } from "./http/transport.ts";
import { rootUrl } from "./image/document.ts";
import type { InspectionContext } from "./request_log.ts";
import type { ImageLimits } from "./limits/image_limits.ts";
import { pauseOf } from "./limits/outcome.ts";
import type { RequestLimiter } from "./limits/request_limiter.ts";
import type { Endpoint } from "./pull_plan.ts";

/** What clients are made with. What they find out about hosts and repositories is shared by all that are made with the same. */
export interface RepositoryClientDeps {
  readonly transport: Transport;
  readonly tokens: TokenSource;
  readonly limits: ImageLimits;
  readonly limiter: RequestLimiter;
  readonly clock: Clock;
  readonly challenges: LearnedChallenges;
  readonly variants: ConnectionVariants;
}

interface RepositoryClientOptions {
  readonly endpoint: Endpoint;
  readonly context: InspectionContext;
  readonly rights: "pull" | "pull,push";
}

export type RepositoryMessage = Pick<
  Exchange,
  "kind" | "method" | "maxBytes" | "accept" | "body" | "timeouts" | "isStreamed"
>;

export interface RepositoryRequest {
  readonly message: RepositoryMessage;
  readonly urlBy: (scheme: "https" | "http") => URL;
  readonly signal?: AbortSignal | undefined;
  /** Whether the answer ends the search for a credential. */
  readonly isFinal: (answer: Answer, isLoggedIn: boolean) => boolean;
  /** Whether a refusal without a challenge means that the host's root must be read. */
  readonly mayReadRoot: boolean;
}

export type RepositoryAnswer =
  | { readonly kind: "answered"; readonly answer: Answer; readonly credential: Credential | undefined }
  | { readonly kind: "refused"; readonly answer: Answer | undefined };

interface Refusal extends Extract<RepositoryAnswer, { kind: "refused" }> {
  /** Whether another credential may get another answer. */
  readonly mayDiffer: boolean;
  /** Whether the repository turned out to be logged in to in another way than was expected. */
  readonly isOtherLogin: boolean;
}

type Attempt = Extract<RepositoryAnswer, { kind: "answered" }> | Refusal;

/** What a request is sent with. */
interface Tried {
  readonly credential: Credential | undefined;
  readonly login: Authorization;
}

/** The refusal while no request has been sent. */
const NOT_SENT: Refusal = { kind: "refused", answer: undefined, mayDiffer: true, isOtherLogin: false };

const MIB = 1024 * 1024;
/** An account of its own, so that the way to log in can be read while anonymous requests are limited. */
const ROOT_ACCOUNT = "/v2/";

export class RepositoryClient {
  readonly endpoint: Endpoint;
  readonly context: InspectionContext;
  readonly credentials: readonly Credential[];
  readonly #deps: RepositoryClientDeps;
  readonly #login: Login;
  #anonymous: AnonymousAuthorization | undefined;

  constructor(deps: RepositoryClientDeps, { endpoint, context, rights }: RepositoryClientOptions) {
    this.#deps = deps;
    this.endpoint = endpoint;
    this.context = context;
    this.credentials = credentialsFor(context.credentials, endpoint);
    const { tokens, challenges, variants } = deps;
    this.#login = new Login({
      tokens,
      challenges,
      endpoint,
      context,
      rights,
      transport: () => variants.transport(endpoint),
      askRoot: (signal) =>
        this.#exchange({ kind: "other", method: "GET", maxBytes: MIB }, {
          urlBy: (scheme) => rootUrl(endpoint, scheme),
          signal,
          account: ROOT_ACCOUNT,
          repository: "",
        }),
    });
  }

  get limits(): ImageLimits {
    return this.#deps.limits;
  }

  pauseOf(answer: Answer): number | undefined {
    return pauseOf(answer, this.#deps.clock.nowMs());
  }

  /** Sends with one credential after the other, anonymous last, until an answer is final. */
  async send(
    request: RepositoryRequest,
    credentials: readonly (Credential | undefined)[] = [...this.credentials, undefined],
  ): Promise<RepositoryAnswer> {
    const first = await this.#tryEach(request, credentials);
    // The cached challenge was not that of the repository: try all credentials again with the right one.
    const isOtherLogin = first.kind === "refused" && first.isOtherLogin;
    return isOtherLogin ? await this.#tryEach(request, credentials) : first;
  }

  async #tryEach(request: RepositoryRequest, credentials: readonly (Credential | undefined)[]): Promise<Attempt> {
    let refusal = NOT_SENT;
    for (const credential of credentials) {
      const attempt = await this.#tryAs(credential, request);
      if (attempt.kind === "answered") return attempt;
      // Some registries answer 404 where access is missing: a missing manifest weighs more than a refusal.
      const answer = refusal.answer?.status === 404 ? refusal.answer : attempt.answer ?? refusal.answer;
      refusal = { ...attempt, answer, isOtherLogin: refusal.isOtherLogin || attempt.isOtherLogin };
      if (!attempt.mayDiffer) break;
    }
    return refusal;
  }

  async #tryAs(credential: Credential | undefined, request: RepositoryRequest): Promise<Attempt> {
    const expected = await this.#login.expected(credential);
    const login = await this.#login.authorize(credential, expected);
    if (login.kind === "denied" && credential !== undefined) return NOT_SENT;
    // A token server may refuse anonymous tokens although the repository is open: it is still tried without one.
    const isLoggedIn = headerOf(login) !== undefined;
    const sent = await this.#sendOrLimit(request, { credential, login });
    const loggedIn = isLimit(sent) && !isLoggedIn ? await this.#logInPastLimit(credential, request) : undefined;
    if (loggedIn !== undefined) return loggedIn;
    if (sent instanceof InspectionError) throw sent;
    return request.isFinal(sent, isLoggedIn)
      ? { kind: "answered", answer: sent, credential: isLoggedIn ? credential : undefined }
      : await this.#tryOffered(request, sent, { credential, expected, login });
  }

  /** With the challenge that the answer offers, unless it was tried. */
  async #tryOffered(
    request: RepositoryRequest,
    answer: Answer,
    { credential, expected, login }: Tried & { readonly expected: Challenge | undefined },
  ): Promise<Attempt> {
    const isLoggedIn = headerOf(login) !== undefined;
    const offered = await this.#offered(answer, { credential, isLoggedIn, request });
    const isOtherLogin = expected !== undefined && offered !== undefined && !isSameLogin(expected, offered);
    const mayDiffer = isLoggedIn || expected !== undefined || offered !== undefined;
    const refusal: Refusal = { kind: "refused", answer, mayDiffer, isOtherLogin };
    if (offered === undefined) return isLoggedIn ? refusal : await this.#tryAnonymously(request, refusal);
    const isFutile = login.kind === "denied" || isLoggedIn && offered.kind === "basic";
    if (isFutile && !isOtherLogin) return refusal;
    if (offered.kind === "bearer" && isLoggedIn) this.#login.discard(credential, offered);
    const again = { credential, login: await this.#login.authorize(credential, offered) };
    return headerOf(again.login) === undefined ? refusal : await this.#tryAgain(request, refusal, again);
  }

  /** Once more as it is logged in now: the refusal gets the new answer. */
  async #tryAgain(request: RepositoryRequest, refusal: Refusal, tried?: Tried): Promise<Attempt> {
    const answer = await this.#send(request, tried);
    return request.isFinal(answer, tried !== undefined)
      ? { kind: "answered", answer, credential: tried?.credential }
      : { ...refusal, answer };
  }

  /** The answer, or the RateLimited error of an account whose requests are held back. */
  async #sendOrLimit(request: RepositoryRequest, tried: Tried): Promise<Answer | InspectionError> {
    try {
      return await this.#send(request, tried);
    } catch (error) {
      if (error instanceof InspectionError && error.failure.reason === "RateLimited") return error;
      throw error;
    }
  }

  /** That anonymous requests are limited says nothing of this credential. Undefined: no way to log in now. */
  async #logInPastLimit(credential: Credential | undefined, request: RepositoryRequest): Promise<Attempt | undefined> {
    if (credential === undefined) return undefined;
    const login = await this.#rootLogin(credential);
    if (login?.kind === "denied") return NOT_SENT;
    return login?.header === undefined ? undefined : await this.#tryAgain(request, NOT_SENT, { credential, login });
  }

  async #rootLogin(credential: Credential): Promise<Authorization | undefined> {
    try {
      return await this.#login.authorize(credential, await this.#login.readRoot());
    } catch (error) {
      if (error instanceof InspectionError) return undefined;
      throw error;
    }
  }

  /** The challenge of an answer that is a refusal; where there is none, and a credential to use, that of the root. */
  async #offered(
    answer: Answer,
    { credential, isLoggedIn, request }: {
      readonly credential: Credential | undefined;
      readonly isLoggedIn: boolean;
      readonly request: RepositoryRequest;
    },
  ): Promise<Challenge | undefined> {
    const isRefused = answer.status === 401 || answer.status === 403 && !isLoggedIn;
    const offered = isRefused ? this.#login.offeredTo(credential, answer) : undefined;
    const isSilent = offered === undefined && !isLoggedIn && credential !== undefined && request.mayReadRoot;
    return isSilent ? await this.#login.readRoot() : offered;
  }

  /** A registry may redirect to another one that gives even public images only to those with an anonymous token. */
  async #tryAnonymously(request: RepositoryRequest, refusal: Refusal): Promise<Attempt> {
    const { answer } = refusal;
    const anonymous = answer?.status === 401 ? await this.#login.anonymousAuthorization(answer) : undefined;
    if (anonymous === undefined) return refusal;
    this.#anonymous = anonymous;
    return await this.#tryAgain(request, refusal);
  }

  async #send({ message, urlBy, signal = this.context.signal }: RepositoryRequest, tried?: Tried): Promise<Answer> {
    const authorization = tried === undefined ? undefined : headerOf(tried.login);
    return await this.#exchange({ ...message, authorization, anonymous: this.#anonymous }, {
      urlBy,
      signal,
      account: fingerprintOf(authorization === undefined ? undefined : tried?.credential),
    });
  }

  /** Waits for its turn at the host, and waits out short pauses that the host requests. */
  async #exchange(
    message: RepositoryMessage & Pick<Exchange, "authorization" | "anonymous">,
    { urlBy, signal, account, repository = this.endpoint.repository }: {
      readonly urlBy: (scheme: "https" | "http") => URL;
      readonly signal: AbortSignal;
      /** The registry counts the requests of one login, and of none, together. */
      readonly account: string;
      /** What it is about; empty: the registry itself. What is known of one repository must not stand in the way of others. */
      readonly repository?: string;
    },
  ): Promise<Answer> {
    const { limiter, transport, variants } = this.#deps;
    const { host, headers } = this.endpoint;
    const { callers, log: requestLog } = this.context;
    const common = { ...message, headers, requestLog, callers };
    return await limiter.run(
      { host, repository, method: message.method, account, callers, signal },
      () =>
        variants.sendInTurn(
          this.endpoint,
          (scheme, variant) => transport.send({ ...common, url: urlBy(scheme), transport: variant }, signal),
        ),
    );
  }
}

function headerOf(login: Authorization): string | undefined {
  return login.kind === "denied" ? undefined : login.header;
}

function isLimit(sent: Answer | InspectionError): boolean {
  return sent instanceof InspectionError || sent.status === 429;
}
