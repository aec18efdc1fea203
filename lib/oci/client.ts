// Reads documents of a repository: the right credential tried first, tokens fetched when asked for. Knows HTTP and
// authentication, nothing of indexes. Used by inspect.ts.
import type { Clock } from "../clock.ts";
import type { Budget } from "./limits/budget.ts";
import { type Challenge, parseChallenges } from "./auth/challenge.ts";
import type { Credential } from "./credential.ts";
import { type DocumentRequest, refused, type RegistryDocument, toDocument } from "./image/document.ts";
import { InspectionError, inspectionError } from "./errors.ts";
import { type Answer, isSendable } from "./http/exchange.ts";
import { isSameLogin, type LearnedHostSettings, openLearnedHostSettings } from "./learned_host_settings.ts";
import type { Endpoint } from "./pull_plan.ts";
import { openSender, type Sender, transportBy } from "./sender.ts";
import type { TokenSource } from "./auth/token.ts";
import { basicAuthorization } from "./auth/token_exchange.ts";
import type { Transport } from "./http/transport.ts";
import { orAborted } from "../abort.ts";

/** Reads documents. */
export interface RegistryClient {
  /** Throws InspectionError; asks each credential once and says which were refused. */
  read(request: DocumentRequest, signal: AbortSignal): Promise<RegistryDocument>;
}

type Asked =
  | { readonly kind: "document"; readonly document: RegistryDocument }
  | { readonly kind: "refused"; readonly status: number | undefined };

/** What a client is made with. */
export interface ClientDeps {
  /** Sends exchanges. */
  readonly transport: Transport;
  /** Gives bearer tokens. */
  readonly tokens: TokenSource;
  /** Spares the hosts. */
  readonly budget: Budget;
  /** Reads dates in `Retry-After`. */
  readonly clock: Clock;
}

/** Opens a client that remembers how each host wants to be logged in to. */
export function openRegistryClient(parts: ClientDeps): RegistryClient {
  return new Client(parts);
}

interface Identity {
  /** undefined: anonymous. */
  readonly credential: Credential | undefined;
  readonly signal: AbortSignal;
}

class Client implements RegistryClient {
  readonly #parts: ClientDeps;
  readonly #learned: LearnedHostSettings = openLearnedHostSettings();
  readonly #sender: Sender;

  constructor(parts: ClientDeps) {
    this.#parts = parts;
    this.#sender = openSender({ ...parts, learned: this.#learned });
  }

  async read(request: DocumentRequest, signal: AbortSignal): Promise<RegistryDocument> {
    const expected = this.#learned.challenge(request.endpoint);
    const first = await this.#askAsEach(request, signal);
    if (first.kind === "document") return first.document;
    const offered = this.#learned.challenge(request.endpoint);
    const isOther = expected !== undefined && offered !== undefined && !isSameLogin(expected, offered);
    if (!isOther) throw refused(request, first.status);
    // The repository is logged in to in another way than its host was before: all of that again, knowing it.
    const second = await this.#askAsEach(request, signal);
    if (second.kind === "document") return second.document;
    throw refused(request, second.status);
  }

  /** One credential after the other, anonymous last, until one gives the document. */
  async #askAsEach(request: DocumentRequest, signal: AbortSignal): Promise<Asked> {
    const candidates: readonly (Credential | undefined)[] = [...request.credentials, undefined];
    let status: number | undefined;
    for (const credential of candidates) {
      const { answer, isLoggedIn } = await this.#ask(request, { credential, signal });
      if (answer !== undefined && isFinal(answer)) {
        return { kind: "document", document: toDocument(request, answer, isLoggedIn ? credential : undefined) };
      }
      // Some registries answer 404 to whom they do not trust: a missing manifest weighs more than a refusal.
      if (status !== 404) status = answer?.status ?? status;
      // Refused without being told how to log in: as anybody else it would be the same request again.
      if (!isLoggedIn && this.#learned.challenge(request.endpoint) === undefined) break;
    }
    return { kind: "refused", status };
  }

  /** One try as one identity; no answer when the token server refuses it. */
  async #ask(
    request: DocumentRequest,
    { credential, signal }: Identity,
  ): Promise<{ readonly answer?: Answer; readonly isLoggedIn: boolean }> {
    const { endpoint } = request;
    const known = this.#learned.challenge(endpoint);
    const first = await this.#authorize(request, { challenge: known, credential, signal });
    if (first.kind === "denied" && credential !== undefined) return { isLoggedIn: true };
    // A token server may refuse strangers although the repository is open: without a token it is still worth a try.
    const header = first.kind === "denied" ? undefined : first.header;
    const isLoggedIn = header !== undefined;
    const answer = await this.#sender.send(request, { authorization: header, signal });
    const challenge = await this.#challengeAfter(answer, request, { credential, isLoggedIn, signal });
    if (challenge === undefined) return { answer, isLoggedIn };
    this.#learned.learnChallenge(endpoint, challenge);
    if (first.kind === "denied" || (challenge.kind === "basic" && isLoggedIn)) return { answer, isLoggedIn };
    if (challenge.kind === "bearer" && isLoggedIn) {
      this.#parts.tokens.discard({ ...request, challenge, scope: scopeOf(request, challenge), credential });
    }
    const second = await this.#authorize(request, { challenge, credential, signal });
    if (second.kind === "denied" || second.header === undefined) return { answer, isLoggedIn };
    return { answer: await this.#sender.send(request, { authorization: second.header, signal }), isLoggedIn: true };
  }

  /** How to log in after an answer; undefined when it is no refusal, or nobody says how. */
  async #challengeAfter(
    answer: Answer,
    request: DocumentRequest,
    { credential, isLoggedIn, signal }: Identity & { readonly isLoggedIn: boolean },
  ): Promise<Challenge | undefined> {
    const { status } = answer;
    const isRefused = status === 401 || status === 403 && !isLoggedIn;
    const offered = isRefused ? challengeOf(answer) : undefined;
    const isSilent = offered === undefined && !isLoggedIn && !isFinal(answer);
    const isKnown = this.#learned.challenge(request.endpoint) !== undefined;
    if (!isSilent || isKnown || credential === undefined || request.method === "HEAD") return offered;
    // Open registries may hide what is private from strangers without a word of logging in; their root tells.
    try {
      return challengeOf(await this.#sender.sendProbe(request, signal));
    } catch (error) {
      // A root that does not answer changes nothing of what was answered before.
      if (!(error instanceof InspectionError)) throw error;
      return undefined;
    }
  }

  async #authorize(
    request: DocumentRequest,
    { challenge, credential, signal }: Identity & { readonly challenge: Challenge | undefined },
  ): Promise<{ readonly kind: "header"; readonly header: string | undefined } | { readonly kind: "denied" }> {
    const { endpoint, requestLog, priority } = request;
    if (challenge === undefined) return { kind: "header", header: undefined };
    if (credential !== undefined) assertSafe(endpoint);
    const secret = credential?.secret;
    if (secret?.kind === "registry") {
      return isSendable(secret.token) ? { kind: "header", header: `Bearer ${secret.token}` } : { kind: "denied" };
    }
    if (challenge.kind === "basic") {
      // A refresh token is no password: asking without it would be asking as a stranger, whose turn comes last.
      if (secret?.kind === "identity") return { kind: "denied" };
      return { kind: "header", header: secret === undefined ? undefined : basicAuthorization(secret) };
    }
    const scope = scopeOf(request, challenge);
    // Others may wait for the same token: whoever leaves does so alone.
    const [way] = this.#learned.ways(endpoint);
    const asked = this.#parts.tokens.get({
      endpoint: way === undefined ? endpoint : { ...endpoint, transport: transportBy(way, endpoint) },
      challenge,
      scope,
      credential,
      requestLog,
      priority,
    });
    const token = await orAborted(asked, signal);
    return token.kind === "denied" ? token : { kind: "header", header: `Bearer ${token.token}` };
  }
}

/** The challenge to follow: a token rather than the password itself. */
function challengeOf(answer: Answer): Challenge | undefined {
  const offered = parseChallenges(answer.headers.get("www-authenticate") ?? "");
  return offered.find(({ kind }) => kind === "bearer") ?? offered[0];
}

/** Whether an answer ends the search for a credential: anything but "not for you" and "not there". */
function isFinal({ status }: Answer): boolean {
  return status !== 401 && status !== 403 && status !== 404;
}

function scopeOf({ endpoint }: DocumentRequest, challenge: Extract<Challenge, { kind: "bearer" }>): string {
  const isAboutUs = challenge.scope.includes(`repository:${endpoint.repository}:`);
  return isAboutUs ? challenge.scope : `repository:${endpoint.repository}:pull`;
}

/** A password goes over plain HTTP only to a registry that was declared insecure, whatever answers there. */
function assertSafe(endpoint: Endpoint): void {
  if (endpoint.transport.scheme !== "http" || endpoint.transport.declared) return;
  const message =
    `Cannot log in to "${endpoint.host}": it is reached over plain HTTP. Declare it with --insecure-registry.`;
  throw inspectionError("Unauthorized", message, { registry: endpoint.host });
}
