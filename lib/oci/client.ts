// Reads documents of a repository: the right credential tried first, tokens fetched when asked for. Knows HTTP and
// authentication, nothing of indexes. Used by inspect.ts.
import type { Clock } from "../clock.ts";
import { type Budget, pauseOf } from "./budget.ts";
import { type Challenge, parseChallenges } from "./challenge.ts";
import {
  type DocumentRequest,
  documentUrl,
  overloaded,
  refused,
  type RegistryDocument,
  toDocument,
} from "./document.ts";
import { InspectionError, inspectionError } from "./errors.ts";
import { type HostHabits, isSameLogin, openHostHabits, type Way } from "./host_habits.ts";
import type { RequestKind } from "./ledger.ts";
import { MANIFEST_MEDIA_TYPES } from "./manifest.ts";
import { basicAuthorization, type TokenSource } from "./token.ts";
import { type Answer, isSendable } from "./exchange.ts";
import type { Transport } from "./transport.ts";
import type { Credential, Endpoint, EndpointTransport } from "./types.ts";
import { untilAborted } from "./until_aborted.ts";

/** Reads documents. */
export interface RegistryClient {
  /** Throws InspectionError; asks each credential once and says which were refused. */
  read(request: DocumentRequest, signal: AbortSignal): Promise<RegistryDocument>;
}

const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;
type Asked =
  | { readonly kind: "document"; readonly document: RegistryDocument }
  | { readonly kind: "refused"; readonly status: number | undefined };

/** What a client is made with. */
export interface ClientParts {
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
export function openRegistryClient(parts: ClientParts): RegistryClient {
  return new Client(parts);
}

interface Identity {
  /** undefined: anonymous. */
  readonly credential: Credential | undefined;
  readonly signal: AbortSignal;
}

interface Authorized {
  readonly authorization: string | undefined;
  readonly signal: AbortSignal;
}

class Client implements RegistryClient {
  readonly #parts: ClientParts;
  readonly #habits: HostHabits = openHostHabits();

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  async read(request: DocumentRequest, signal: AbortSignal): Promise<RegistryDocument> {
    const expected = this.#habits.challenge(request.endpoint);
    const first = await this.#askAsEach(request, signal);
    if (first.kind === "document") return first.document;
    const offered = this.#habits.challenge(request.endpoint);
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
      if (answer?.status === 404 && !isLoggedIn) break;
      // Refused without being told how to log in: as anybody else it would be the same request again.
      if (!isLoggedIn && this.#habits.challenge(request.endpoint) === undefined) break;
    }
    return { kind: "refused", status };
  }

  /** One try as one identity; no answer when the token server refuses it. */
  async #ask(
    request: DocumentRequest,
    { credential, signal }: Identity,
  ): Promise<{ readonly answer?: Answer; readonly isLoggedIn: boolean }> {
    const { endpoint } = request;
    const known = this.#habits.challenge(endpoint);
    const first = await this.#authorize(request, { challenge: known, credential, signal });
    if (first.kind === "denied" && credential !== undefined) return { isLoggedIn: true };
    // A token server may refuse strangers although the repository is open: without a token it is still worth a try.
    const header = first.kind === "denied" ? undefined : first.header;
    const isLoggedIn = header !== undefined;
    const answer = await this.#sendWithin(request, { authorization: header, signal });
    if (answer.status !== 401 && (answer.status !== 403 || isLoggedIn)) return { answer, isLoggedIn };
    const offered = parseChallenges(answer.headers.get("www-authenticate") ?? "");
    const challenge = offered.find(({ kind }) => kind === "bearer") ?? offered[0];
    if (challenge === undefined) return { answer, isLoggedIn };
    this.#habits.learnChallenge(endpoint, challenge);
    if (first.kind === "denied" || (challenge.kind === "basic" && isLoggedIn)) return { answer, isLoggedIn };
    if (challenge.kind === "bearer" && isLoggedIn) {
      this.#parts.tokens.discard({ ...request, challenge, scope: scopeOf(request, challenge), credential });
    }
    const second = await this.#authorize(request, { challenge, credential, signal });
    if (second.kind === "denied" || second.header === undefined) return { answer, isLoggedIn };
    return { answer: await this.#sendWithin(request, { authorization: second.header, signal }), isLoggedIn: true };
  }

  async #authorize(
    request: DocumentRequest,
    { challenge, credential, signal }: Identity & { readonly challenge: Challenge | undefined },
  ): Promise<{ readonly kind: "header"; readonly header: string | undefined } | { readonly kind: "denied" }> {
    const { endpoint, ledger, priority } = request;
    if (challenge === undefined) return { kind: "header", header: undefined };
    if (credential !== undefined) assertSafe(endpoint);
    const secret = credential?.secret;
    if (secret?.kind === "registry") {
      return isSendable(secret.token) ? { kind: "header", header: `Bearer ${secret.token}` } : { kind: "denied" };
    }
    if (challenge.kind === "basic") {
      return { kind: "header", header: secret?.kind === "basic" ? basicAuthorization(secret) : undefined };
    }
    const scope = scopeOf(request, challenge);
    // Others may wait for the same token: whoever leaves does so alone.
    const [way] = this.#habits.ways(endpoint);
    const asked = this.#parts.tokens.get({
      endpoint: way === undefined ? endpoint : { ...endpoint, transport: transportOf(endpoint, way) },
      challenge,
      scope,
      credential,
      ledger,
      priority,
    });
    const token = await untilAborted(asked, signal);
    return token.kind === "denied" ? token : { kind: "header", header: `Bearer ${token.token}` };
  }

  /** Sends in its turn; the budget waits out short pauses that the registry asks for. */
  async #sendWithin(
    request: DocumentRequest,
    { authorization, signal }: Authorized,
  ): Promise<Answer> {
    const { endpoint, priority } = request;
    const answer = await this.#parts.budget.run(
      endpoint.host,
      { priority, signal },
      () => this.#send(request, { authorization, signal }),
    );
    if (answer.status !== 429 && answer.status < 500) return answer;
    throw overloaded(request, answer.status, pauseOf(answer, this.#parts.clock.nowMs()));
  }

  async #send(
    request: DocumentRequest,
    { authorization, signal }: Authorized,
  ): Promise<Answer> {
    const { endpoint, method, what, ledger } = request;
    const ways = this.#habits.ways(endpoint);
    let failure: unknown;
    for (const [at, way] of ways.entries()) {
      try {
        const answer = await this.#parts.transport.send({
          method,
          url: documentUrl(request, way.scheme),
          transport: transportOf(endpoint, way),
          maxBytes: MAX_DOCUMENT_BYTES,
          kind: KIND[what][method],
          ledger,
          ...(endpoint.headers === undefined ? {} : { headers: endpoint.headers }),
          ...(what === "manifest" ? { accept: MANIFEST_MEDIA_TYPES.join(", ") } : {}),
          ...(authorization === undefined ? {} : { authorization }),
        }, signal);
        const isOtherWanted = way.certificate !== undefined && CERTIFICATE_REFUSALS.includes(answer.status);
        if (isOtherWanted && ways[at + 1]?.certificate !== undefined) continue;
        this.#habits.learnWay(endpoint, way);
        return answer;
      } catch (error) {
        const isWire = error instanceof InspectionError && ["Unreachable", "TlsFailed"].includes(error.failure.reason);
        if (!isWire) throw error;
        failure = error;
      }
    }
    throw failure;
  }
}

/** What servers answer to a certificate that they do not take: nginx says 400 (or 495, 496), others 403. */
const CERTIFICATE_REFUSALS: readonly number[] = [400, 403, 495, 496];

/** The endpoint's transport with the one certificate of this way. */
function transportOf({ transport }: Endpoint, { certificate }: Way): EndpointTransport {
  const { clientCertificates: _all, ...others } = transport;
  return certificate === undefined ? others : { ...others, clientCertificates: [certificate] };
}

const KIND: Readonly<Record<DocumentRequest["what"], Readonly<Record<DocumentRequest["method"], RequestKind>>>> = {
  manifest: { GET: "manifestGet", HEAD: "manifestHead" },
  blob: { GET: "blobGet", HEAD: "other" },
};

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
