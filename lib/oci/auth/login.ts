// Logging in to one repository: which challenge to answer, and with what. A password only where learned_challenges.ts
// allows it, or where the repository has just given the challenge itself, without a redirect to another origin.
import { orAborted } from "../../clock.ts";
import type { Credential } from "../credential.ts";
import { inspectionError } from "../errors.ts";
import { type AnonymousAuthorization, type Answer, isSendable } from "../http/exchange.ts";
import type { InspectionContext } from "../request_log.ts";
import { type Endpoint, type EndpointTransport, transportElsewhere } from "../pull_plan.ts";
import { type Challenge, parseChallenges } from "./challenge.ts";
import type { LearnedChallenges, ProbeRoot } from "./learned_challenges.ts";
import type { TokenSource } from "./token.ts";
import { basicAuthorization, type TokenRequest } from "./token_exchange.ts";

/** The header to send, undefined for none; or the refusal of the credential, by its token server or because it does not fit. */
export type Authorization =
  | { readonly kind: "header"; readonly header: string | undefined }
  | { readonly kind: "denied" };

interface LoginDeps {
  readonly tokens: TokenSource;
  readonly challenges: LearnedChallenges;
  readonly endpoint: Endpoint;
  readonly context: InspectionContext;
  readonly rights: "pull" | "pull,push";
  readonly transport: () => EndpointTransport;
  readonly askRoot: (signal: AbortSignal) => Promise<Answer>;
}

type BearerChallenge = Extract<Challenge, { readonly kind: "bearer" }>;

export class Login {
  readonly #deps: LoginDeps;
  #offered: Challenge | undefined;

  constructor(deps: LoginDeps) {
    this.#deps = deps;
  }

  /** The challenge to answer with this credential before the repository gives one; undefined: ask without. */
  async expected(credential: Credential | undefined): Promise<Challenge | undefined> {
    const { challenges, endpoint } = this.#deps;
    const known = this.#offered ?? challenges.own(endpoint, credential);
    if (known !== undefined) return known;
    return await this.#awaitRoot((probe) => challenges.root(endpoint, probe));
  }

  /** Takes the repository's own challenge for the credential; undefined when the answer has none that counts. */
  offeredTo(credential: Credential | undefined, answer: Answer): Challenge | undefined {
    const { challenges, endpoint } = this.#deps;
    const challenge = answer.redirect?.isSameOrigin === false ? undefined : challengeOf(answer);
    if (challenge === undefined) return undefined;
    this.#offered = challenge;
    challenges.learnOwn(endpoint, { credential, challenge });
    return challenge;
  }

  /** The challenge of the host's root. Open registries may answer 404 or 403 for what is private, without any challenge. */
  async readRoot(): Promise<Challenge | undefined> {
    const { challenges, endpoint } = this.#deps;
    return await this.#awaitRoot((probe) => challenges.readRoot(endpoint, probe));
  }

  /** Throws Unauthorized rather than to send a password over plain HTTP to a registry that was not declared insecure. */
  async authorize(credential: Credential | undefined, challenge: Challenge | undefined): Promise<Authorization> {
    if (challenge === undefined) return { kind: "header", header: undefined };
    const { endpoint, challenges } = this.#deps;
    if (credential !== undefined) assertSafe(endpoint);
    const secret = credential?.secret;
    if (secret?.kind === "registry") {
      return isSendable(secret.token) ? { kind: "header", header: `Bearer ${secret.token}` } : { kind: "denied" };
    }
    if (challenge.kind === "basic") {
      // A refresh token is no password: asking without it would be asking without a credential, which comes last.
      if (secret?.kind === "identity") return { kind: "denied" };
      return { kind: "header", header: secret === undefined ? undefined : basicAuthorization(secret) };
    }
    try {
      return await this.#fetchToken(credential, challenge);
    } catch (error) {
      challenges.forget(endpoint, credential);
      throw error;
    }
  }

  discard(credential: Credential | undefined, challenge: BearerChallenge): void {
    for (const scopes of this.#scopeChoices(challenge)) {
      this.#deps.tokens.discard(this.#tokenRequest({ challenge, scopes, credential }));
    }
  }

  /** An anonymous token for another origin that the registry redirects to; undefined when that origin requires none. */
  async anonymousAuthorization(answer: Answer): Promise<AnonymousAuthorization | undefined> {
    const { redirect } = answer;
    const challenge = challengeOf(answer);
    if (redirect === undefined || redirect.isSameOrigin || challenge?.kind !== "bearer") return undefined;
    const { endpoint, context, tokens } = this.#deps;
    const target = new URL(redirect.origin);
    const elsewhere = { host: target.host, transport: transportElsewhere(endpoint.transport, endpoint.host, target) };
    const scopes = challenge.scope === "" ? this.#ownScopes : [challenge.scope];
    const request = this.#tokenRequest({ challenge, scopes, credential: undefined });
    const asked = tokens.get({ ...request, endpoint: { ...endpoint, ...elsewhere } });
    const token = await orAborted(asked, context.signal);
    if (token.kind === "denied") return undefined;
    return { origin: redirect.origin, authorization: `Bearer ${token.token}` };
  }

  async #fetchToken(credential: Credential | undefined, challenge: BearerChallenge): Promise<Authorization> {
    const { context, tokens } = this.#deps;
    for (const scopes of this.#scopeChoices(challenge)) {
      // Others may wait for the same token: a caller that is cancelled leaves alone.
      const asked = tokens.get(this.#tokenRequest({ challenge, scopes, credential }));
      const token = await orAborted(asked, context.signal);
      if (token.kind === "token") return { kind: "header", header: `Bearer ${token.token}` };
    }
    return { kind: "denied" };
  }

  get #ownScopes(): readonly string[] {
    const { endpoint, rights } = this.#deps;
    return [`repository:${endpoint.repository}:${rights}`];
  }

  /** In order. A proxy of another registry requires the scope of the other name: with our own, else alone. */
  #scopeChoices({ scope }: BearerChallenge): readonly (readonly string[])[] {
    const { endpoint: { repository }, rights } = this.#deps;
    const isOwn = scope.includes(`repository:${repository}:`);
    // One token for reading and writing. What else is wanted, as the source of a mount, the challenge itself names.
    if (isOwn && rights === "pull,push") {
      const others = scope.split(" ").filter((one) => one !== "" && !one.startsWith(`repository:${repository}:`));
      return [[...this.#ownScopes, ...others]];
    }
    if (isOwn) return [[scope]];
    return scope === "" ? [this.#ownScopes] : [[scope, ...this.#ownScopes], [scope]];
  }

  #tokenRequest(wanted: Pick<TokenRequest, "challenge" | "scopes" | "credential">): TokenRequest {
    const { endpoint, context, transport } = this.#deps;
    return { ...wanted, endpoint: { ...endpoint, transport: transport() }, context };
  }

  /** A probe outlives who is cancelled. Who began it waits for its end: a namespace has no more than its permits. */
  async #awaitRoot(read: (probe: ProbeRoot) => Promise<Challenge | undefined>): Promise<Challenge | undefined> {
    const { signal } = this.#deps.context;
    let isOwn = false;
    const asked = read(() => {
      isOwn = true;
      return this.#probeRoot();
    });
    const challenge = isOwn ? await asked : await orAborted(asked, signal);
    signal.throwIfAborted();
    return challenge;
  }

  /** Shared by several callers, so no caller's signal ends it. The scope of a root is no repository's. */
  async #probeRoot(): Promise<Challenge | undefined> {
    const answer = await this.#deps.askRoot(new AbortController().signal);
    const { host } = this.#deps.endpoint;
    const isBroken = answer.status === 429 || answer.status >= 500;
    if (isBroken) throw inspectionError("ServerError", `Cannot read "${host}/v2/": it answered ${answer.status}.`);
    const challenge = answer.redirect === undefined ? challengeOf(answer) : undefined;
    return challenge?.kind === "bearer" ? { ...challenge, scope: "" } : challenge;
  }
}

/** The challenge to answer: a token rather than the password itself. */
function challengeOf(answer: Answer): Challenge | undefined {
  const offered = parseChallenges(answer.headers.get("www-authenticate") ?? "");
  return offered.find(({ kind }) => kind === "bearer") ?? offered[0];
}

function assertSafe(endpoint: Endpoint): void {
  if (endpoint.transport.scheme !== "http" || endpoint.transport.declared) return;
  const message =
    `Cannot log in to "${endpoint.host}": it is reached over plain HTTP. Declare it with --insecure-registry.`;
  throw inspectionError("Unauthorized", message, { registry: endpoint.host });
}
