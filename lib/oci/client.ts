// Reads documents of a repository: the right credential tried first, tokens fetched when asked for, digests verified.
// Knows HTTP and authentication, nothing of indexes. Used by inspect.ts.
import { createHash } from "node:crypto";
import type { Clock } from "../clock.ts";
import { type Budget, pauseOf } from "./budget.ts";
import { type Challenge, parseChallenges } from "./challenge.ts";
import { InspectionError, inspectionError } from "./errors.ts";
import { isSameLogin, openHostHabits } from "./host_habits.ts";
import type { Ledger, RequestKind } from "./ledger.ts";
import { MANIFEST_MEDIA_TYPES } from "./manifest.ts";
import { isDigest } from "./reference.ts";
import { basicAuthorization, type TokenSource } from "./token.ts";
import type { Answer, Transport } from "./transport.ts";
import type { Credential, Endpoint, InspectionPriority } from "./types.ts";

/** One document of a repository and who may read it. */
export interface DocumentRequest {
  /** The host and repository. */
  readonly endpoint: Endpoint;
  /** Tag or digest. */
  readonly identifier: string;
  /** Which of the two. */
  readonly what: "manifest" | "blob";
  /** HEAD only tells the digest. */
  readonly method: "GET" | "HEAD";
  /** Tried in order; anonymous comes last by itself. */
  readonly credentials: readonly Credential[];
  /** Asked when a place at the host becomes free. */
  readonly priority: () => InspectionPriority;
  /** Counts and traces what is sent. */
  readonly ledger: Ledger;
}

/** A document as the registry has it. `credential` is the one that worked. */
export interface RegistryDocument {
  /** The body; empty for a HEAD. */
  readonly text: string;
  /** The `Content-Type` header; may be empty. */
  readonly contentType: string;
  /** Computed from the bytes; of a HEAD what the registry says, empty when it does not. */
  readonly digest: string;
  /** The credential that worked; undefined when none was needed. */
  readonly credential: Credential | undefined;
}

/** Reads documents. */
export interface RegistryClient {
  /** Throws InspectionError; asks each credential once and says which were refused. */
  read(request: DocumentRequest, signal: AbortSignal): Promise<RegistryDocument>;
}

const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;
const HASHES: readonly string[] = ["sha256", "sha384", "sha512"];

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
  const habits = openHostHabits();

  async function read(request: DocumentRequest, signal: AbortSignal): Promise<RegistryDocument> {
    const expected = habits.challenge(request.endpoint);
    const first = await askAsEach(request, signal);
    if (first.kind === "document") return first.document;
    const offered = habits.challenge(request.endpoint);
    const isOther = expected !== undefined && offered !== undefined && !isSameLogin(expected, offered);
    if (!isOther) throw refused(request, first.status);
    // The repository is logged in to in another way than its host was before: all of that again, knowing it.
    const second = await askAsEach(request, signal);
    if (second.kind === "document") return second.document;
    throw refused(request, second.status);
  }

  /** One credential after the other, anonymous last, until one gives the document. */
  async function askAsEach(request: DocumentRequest, signal: AbortSignal): Promise<Asked> {
    const candidates: readonly (Credential | undefined)[] = [...request.credentials, undefined];
    let status: number | undefined;
    for (const credential of candidates) {
      const { answer, isLoggedIn } = await ask(request, { credential, signal });
      if (answer !== undefined && isFinal(answer)) {
        return { kind: "document", document: toDocument(request, answer, isLoggedIn ? credential : undefined) };
      }
      // Some registries answer 404 to whom they do not trust: a missing manifest weighs more than a refusal.
      if (status !== 404) status = answer?.status ?? status;
      if (answer?.status === 404 && !isLoggedIn) break;
    }
    return { kind: "refused", status };
  }

  /** One try as one identity; no answer when the token server refuses it. */
  async function ask(
    request: DocumentRequest,
    { credential, signal }: { readonly credential: Credential | undefined; readonly signal: AbortSignal },
  ): Promise<{ readonly answer?: Answer; readonly isLoggedIn: boolean }> {
    const { endpoint } = request;
    const first = await authorize(request, { challenge: habits.challenge(endpoint), credential });
    if (first.kind === "denied" && credential !== undefined) return { isLoggedIn: true };
    // A token server may refuse strangers although the repository is open: without a token it is still worth a try.
    const header = first.kind === "denied" ? undefined : first.header;
    const isLoggedIn = header !== undefined;
    const answer = await sendWithin(request, { authorization: header, signal });
    if (answer.status !== 401 && (answer.status !== 403 || isLoggedIn)) return { answer, isLoggedIn };
    const offered = parseChallenges(answer.headers.get("www-authenticate") ?? "");
    const challenge = offered.find(({ kind }) => kind === "bearer") ?? offered[0];
    if (challenge === undefined) return { answer, isLoggedIn };
    habits.learnChallenge(endpoint, challenge);
    if (first.kind === "denied" || (challenge.kind === "basic" && isLoggedIn)) return { answer, isLoggedIn };
    if (challenge.kind === "bearer" && isLoggedIn) {
      parts.tokens.discard({ ...request, challenge, scope: scopeOf(request, challenge), credential });
    }
    const second = await authorize(request, { challenge, credential });
    if (second.kind === "denied" || second.header === undefined) return { answer, isLoggedIn };
    return { answer: await sendWithin(request, { authorization: second.header, signal }), isLoggedIn: true };
  }

  async function authorize(
    request: DocumentRequest,
    { challenge, credential }: {
      readonly challenge: Challenge | undefined;
      readonly credential: Credential | undefined;
    },
  ): Promise<{ readonly kind: "header"; readonly header: string | undefined } | { readonly kind: "denied" }> {
    const { endpoint, ledger, priority } = request;
    if (challenge === undefined) return { kind: "header", header: undefined };
    if (credential !== undefined) assertSafe(endpoint);
    const secret = credential?.secret;
    if (secret?.kind === "registry") return { kind: "header", header: `Bearer ${secret.token}` };
    if (challenge.kind === "basic") {
      return { kind: "header", header: secret?.kind === "basic" ? basicAuthorization(secret) : undefined };
    }
    const scope = scopeOf(request, challenge);
    const token = await parts.tokens.get({ endpoint, challenge, scope, credential, ledger, priority });
    return token.kind === "denied" ? token : { kind: "header", header: `Bearer ${token.token}` };
  }

  /** Sends in its turn; the budget waits out short pauses that the registry asks for. */
  async function sendWithin(
    request: DocumentRequest,
    { authorization, signal }: { readonly authorization: string | undefined; readonly signal: AbortSignal },
  ): Promise<Answer> {
    const { endpoint, priority } = request;
    const answer = await parts.budget.run(
      endpoint.host,
      { priority, signal },
      () => send(request, { authorization, signal }),
    );
    if (answer.status !== 429 && answer.status < 500) return answer;
    throw overloaded(request, answer.status, pauseOf(answer, parts.clock.nowMs()));
  }

  async function send(
    request: DocumentRequest,
    { authorization, signal }: { readonly authorization: string | undefined; readonly signal: AbortSignal },
  ): Promise<Answer> {
    const { endpoint, method, what, ledger } = request;
    let failure: unknown;
    for (const scheme of habits.schemes(endpoint)) {
      try {
        const answer = await parts.transport.send({
          method,
          url: documentUrl(request, scheme),
          transport: endpoint.transport,
          maxBytes: MAX_DOCUMENT_BYTES,
          kind: KIND[what][method],
          ledger,
          ...(what === "manifest" ? { accept: MANIFEST_MEDIA_TYPES.join(", ") } : {}),
          ...(authorization === undefined ? {} : { authorization }),
        }, signal);
        habits.learnScheme(endpoint, scheme);
        return answer;
      } catch (error) {
        const isWire = error instanceof InspectionError && ["Unreachable", "TlsFailed"].includes(error.failure.reason);
        if (!isWire) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  return { read };
}

const KIND: Readonly<Record<DocumentRequest["what"], Readonly<Record<DocumentRequest["method"], RequestKind>>>> = {
  manifest: { GET: "manifestGet", HEAD: "manifestHead" },
  blob: { GET: "blobGet", HEAD: "other" },
};

function documentUrl({ endpoint, identifier, what }: DocumentRequest, scheme: "https" | "http"): URL {
  const folder = what === "manifest" ? "manifests" : "blobs";
  return new URL(
    `${scheme}://${endpoint.host}${endpoint.pathPrefix}/v2/${endpoint.repository}/${folder}/${identifier}`,
  );
}

/** Whether an answer ends the search for a credential: anything but "not for you" and "not there". */
function isFinal({ status }: Answer): boolean {
  return status !== 401 && status !== 403 && status !== 404;
}

function toDocument(
  request: DocumentRequest,
  answer: Answer,
  credential: Credential | undefined,
): RegistryDocument {
  const { endpoint, identifier, method } = request;
  const registry = endpoint.host;
  const name = nameOf(request);
  if (answer.status !== 200) {
    throw inspectionError("Malformed", `Cannot read ${name}: the registry answered ${answer.status}.`, { registry });
  }
  const contentType = answer.headers.get("content-type") ?? "";
  const told = answer.headers.get("docker-content-digest") ?? "";
  if (method === "HEAD") return { text: "", contentType, digest: told, credential };
  const wanted = isDigest(identifier) ? identifier : undefined;
  const [algorithm = "sha256"] = (wanted ?? told).split(":");
  if (wanted !== undefined && !HASHES.includes(algorithm)) {
    throw inspectionError("DigestMismatch", `Cannot verify ${name}: its digest is not sha256, sha384 or sha512.`, {
      registry,
    });
  }
  const digest = hash(HASHES.includes(algorithm) ? algorithm : "sha256", answer.body);
  if (wanted !== undefined && digest !== wanted) {
    throw inspectionError("DigestMismatch", `Cannot trust ${name}: its content has the digest ${digest}.`, {
      registry,
    });
  }
  return { text: new TextDecoder().decode(answer.body), contentType, digest, credential };
}

function hash(algorithm: string, body: Uint8Array): string {
  return `${algorithm}:${createHash(algorithm).update(body).digest("hex")}`;
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

function refused(request: DocumentRequest, status: number | undefined): InspectionError {
  const registry = request.endpoint.host;
  const name = nameOf(request);
  if (status === 404) {
    return inspectionError("ManifestUnknown", `Cannot find ${name}: the registry does not have it.`, { registry });
  }
  const tried = request.credentials.map(({ source }) => source);
  const how = tried.length === 0
    ? "no pull secret matches it"
    : `refused: ${[...new Set(tried)].join(", ")}, anonymous`;
  const message = `Cannot read ${name}: the registry answered ${status ?? 401} (${how}).`;
  return inspectionError("Unauthorized", message, { registry });
}

function overloaded(request: DocumentRequest, status: number, retryAfterMs: number | undefined): InspectionError {
  const message = `Cannot read ${nameOf(request)}: the registry answered ${status}.`;
  const reason = status === 429 ? "RateLimited" : "ServerError";
  return inspectionError(reason, message, { registry: request.endpoint.host, retryAfterMs });
}

function nameOf({ endpoint, identifier, what }: DocumentRequest): string {
  const name = `${endpoint.host}/${endpoint.repository}${isDigest(identifier) ? "@" : ":"}${identifier}`;
  return what === "manifest" ? `image "${name}"` : `config "${name}"`;
}
