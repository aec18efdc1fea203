// What a document request is: its address, the check of what comes back, and the words for what went wrong. Pure but for
// hashing. Used by client.ts, which knows how to log in.
import { createHash } from "node:crypto";
import type { Credential } from "../credential.ts";
import { type InspectionError, inspectionError } from "../errors.ts";
import type { InspectionPriority } from "../inspector.ts";
import type { RequestLog } from "../request_log.ts";
import type { Endpoint } from "../pull_plan.ts";
import { isDigest } from "../reference.ts";
import type { Answer } from "../http/exchange.ts";

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
  readonly requestLog: RequestLog;
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

/** In the media type of a signed schema 1 manifest: its digest leaves the signatures out. */
const SIGNED = "prettyjws";

const HASHES: readonly string[] = ["sha256", "sha384", "sha512"];

/** The address of a document: `https://host/prefix/v2/repository/manifests/tag`, and for whom a mirror is asked. */
export function documentUrl({ endpoint, identifier, what }: DocumentRequest, scheme: "https" | "http"): URL {
  const folder = what === "manifest" ? "manifests" : "blobs";
  const url = new URL(`${rootUrl(endpoint, scheme)}${endpoint.repository}/${folder}/${identifier}`);
  if (endpoint.namespace !== undefined) url.searchParams.set("ns", endpoint.namespace);
  return url;
}

/** The root of the API: `https://host/prefix/v2/`. */
export function rootUrl({ host, pathPrefix }: Endpoint, scheme: "https" | "http"): URL {
  return new URL(`${scheme}://${host}${pathPrefix}/v2/`);
}

/** The document of an answer. Throws InspectionError for any status but 200 and for content that its digest denies. */
export function toDocument(
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
  const wanted = isDigest(identifier) ? identifier : told;
  const [algorithm = "sha256"] = wanted.split(":");
  const isVerifiable = HASHES.includes(algorithm);
  if (isDigest(identifier) && !isVerifiable) {
    throw inspectionError("Malformed", `Cannot verify ${name}: its digest is not sha256, sha384 or sha512.`, {
      registry,
    });
  }
  const digest = hash(isVerifiable ? algorithm : "sha256", answer.body);
  // A runtime asks for the digest that it was told and would refuse the same content.
  if (isVerifiable && digest !== wanted && (isDigest(identifier) || !contentType.includes(SIGNED))) {
    throw inspectionError("DigestMismatch", `Cannot trust ${name}: its content has the digest ${digest}.`, {
      registry,
    });
  }
  return { text: new TextDecoder().decode(answer.body), contentType, digest, credential };
}

/** Nobody may read it, or it is not there; names the sources that were tried, never their secrets. */
export function refused(request: DocumentRequest, status: number | undefined): InspectionError {
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

/** The registry answered 429 or 5xx. */
export function overloaded(
  request: DocumentRequest,
  status: number,
  retryAfterMs: number | undefined,
): InspectionError {
  const message = `Cannot read ${nameOf(request)}: the registry answered ${status}.`;
  const reason = status === 429 ? "RateLimited" : "ServerError";
  return inspectionError(reason, message, { registry: request.endpoint.host, retryAfterMs });
}

function hash(algorithm: string, body: Uint8Array): string {
  return `${algorithm}:${createHash(algorithm).update(body).digest("hex")}`;
}

function nameOf({ endpoint, identifier, what }: DocumentRequest): string {
  const name = `${endpoint.host}/${endpoint.repository}${isDigest(identifier) ? "@" : ":"}${identifier}`;
  return what === "manifest" ? `image "${name}"` : `config "${name}"`;
}
