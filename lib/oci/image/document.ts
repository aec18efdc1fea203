// One document of a repository: its address, the check of what comes back, and the words for what went wrong. Pure.
import { createHash } from "node:crypto";
import type { Credential } from "../credential.ts";
import { type InspectionError, inspectionError } from "../errors.ts";
import type { Endpoint, PlannedEndpoint } from "../pull_plan.ts";
import { HASHES, isDigest, nameAt } from "../reference.ts";
import type { RegistryResponse } from "../http/exchange.ts";

/** A `head` is that of a manifest, for its digest; a `child` is a manifest that an index lists. */
export interface DocumentName {
  readonly kind: "manifest" | "child" | "head" | "config" | "layer";
  readonly identifier: string;
}

export interface RegistryDocument {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly text: string;
  readonly contentType: string;
  /** Computed from the bytes; of a HEAD what the registry says, empty when it does not. */
  readonly digest: string;
  readonly credential: Credential | undefined;
}

/** In the media type of a signed schema 1 manifest: its digest leaves the signatures out. */
const SIGNED = "prettyjws";

/** The address of a document: `https://host/prefix/v2/repository/manifests/tag`, and the registry that is mirrored. */
export function documentUrl(
  endpoint: Endpoint,
  { kind, identifier, scheme }: {
    readonly kind: DocumentName["kind"];
    readonly identifier: string;
    readonly scheme: "https" | "http";
  },
): URL {
  const folder = ["config", "layer"].includes(kind) ? "blobs" : "manifests";
  const url = new URL(`${rootUrl(endpoint, scheme)}${endpoint.repository}/${folder}/${identifier}`);
  if (endpoint.mirrorOf !== undefined) url.searchParams.set("ns", endpoint.mirrorOf);
  return url;
}

export function rootUrl({ host, pathPrefix }: Endpoint, scheme: "https" | "http"): URL {
  return new URL(`${scheme}://${host}${pathPrefix}/v2/`);
}

/** The document of an answer. Throws InspectionError for any status but 200 and for content that its digest denies. */
export function toDocument(
  endpoint: Endpoint,
  { document, answer, credential }: {
    readonly document: DocumentName;
    readonly answer: RegistryResponse;
    readonly credential: Credential | undefined;
  },
): RegistryDocument {
  const { kind, identifier } = document;
  const registry = endpoint.host;
  const name = nameOf(endpoint, document);
  if (answer.status !== 200) throw unreadable(endpoint, { document, status: answer.status });
  const contentType = answer.headers.get("content-type") ?? "";
  const stated = answer.headers.get("docker-content-digest") ?? "";
  if (kind === "head") return { bytes: answer.body, text: "", contentType, digest: stated, credential };
  const wanted = isDigest(identifier) ? identifier : stated;
  const [algorithm = "sha256"] = wanted.split(":");
  const isVerifiable = HASHES.includes(algorithm);
  if (isDigest(identifier) && !isVerifiable) {
    throw inspectionError("Malformed", `Cannot verify ${name}: its digest is not sha256, sha384 or sha512.`, {
      registry,
    });
  }
  const hash = isVerifiable ? algorithm : "sha256";
  const digest = `${hash}:${createHash(hash).update(answer.body).digest("hex")}`;
  // A container runtime requests the stated digest and would refuse the same content.
  if (isVerifiable && digest !== wanted && (isDigest(identifier) || !contentType.includes(SIGNED))) {
    throw inspectionError("DigestMismatch", `Cannot trust ${name}: its content has the digest ${digest}.`, {
      registry,
    });
  }
  return { bytes: answer.body, text: new TextDecoder().decode(answer.body), contentType, digest, credential };
}

/** The registry answered something that is neither the document nor a refusal. */
export function unreadable(
  endpoint: Endpoint,
  { document, status, retryAfterMs }: {
    readonly document: DocumentName;
    readonly status: number;
    readonly retryAfterMs?: number | undefined;
  },
): InspectionError {
  const message = `Cannot read ${nameOf(endpoint, document)}: the registry answered ${status}.`;
  const reason = status === 429 ? "RateLimited" : status >= 500 ? "ServerError" : "Malformed";
  return inspectionError(reason, message, { registry: endpoint.host, retryAfterMs });
}

/** The document is missing, or every credential was refused; names the sources that were tried, never their secrets. */
export function refused(
  endpoint: PlannedEndpoint,
  { document, status }: { readonly document: DocumentName; readonly status: number | undefined },
): InspectionError {
  const registry = endpoint.host;
  const name = nameOf(endpoint, document);
  if (status === 404) {
    return inspectionError("ManifestUnknown", `Cannot find ${name}: the registry does not have it.`, { registry });
  }
  const tried = endpoint.credentials.map(({ source }) => source);
  const how = tried.length === 0
    ? "no pull secret matches it"
    : `refused: ${[...new Set(tried)].join(", ")}, anonymous`;
  const message = `Cannot read ${name}: the registry answered ${status ?? 401} (${how}).`;
  return inspectionError("Unauthorized", message, { registry });
}

function nameOf(endpoint: Endpoint, { kind, identifier }: DocumentName): string {
  const name = nameAt(endpoint, identifier);
  return kind === "config" || kind === "layer" ? `${kind} "${name}"` : `image "${name}"`;
}
