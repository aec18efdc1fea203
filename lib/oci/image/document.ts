// One document of a repository: its address, the check of its content, and its errors. Pure.
import { createHash } from "node:crypto";
import { type RegistryError, registryError } from "../errors.ts";
import type { Endpoint, EndpointWithCredentials } from "../endpoint.ts";
import { HASHES, isDigest, renderReference } from "../reference.ts";
import type { RegistryResponse } from "../http/exchange.ts";

/** `head`: a HEAD of a manifest, for its digest. `child`: a manifest that an index lists. */
export interface DocumentName {
  readonly kind: "manifest" | "child" | "head" | "config" | "blob";
  readonly identifier: string;
}

export interface RegistryDocument {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly text: string;
  readonly contentType: string;
  /** Computed from the bytes. For a HEAD, the registry's header; empty without one. */
  readonly digest: string;
}

/** Part of the media type of a signed schema 1 manifest, whose digest excludes its signatures. */
const SIGNED = "prettyjws";

/** The address of a document, `https://host/prefix/v2/repository/manifests/tag`, with the mirrored registry as `ns`. */
export function documentUrl(
  endpoint: Endpoint,
  { kind, identifier, scheme }: {
    readonly kind: DocumentName["kind"];
    readonly identifier: string;
    readonly scheme: "https" | "http";
  },
): URL {
  const folder = ["config", "blob"].includes(kind) ? "blobs" : "manifests";
  const url = new URL(`${rootUrl(endpoint, scheme)}${endpoint.repository}/${folder}/${identifier}`);
  if (endpoint.mirrorOf !== undefined) url.searchParams.set("ns", endpoint.mirrorOf);
  return url;
}

export function rootUrl({ host, pathPrefix }: Endpoint, scheme: "https" | "http"): URL {
  return new URL(`${scheme}://${host}${pathPrefix}/v2/`);
}

/** The document of an answer. Throws RegistryError for a status other than 200, or a wrong digest. */
export function toDocument(
  endpoint: Endpoint,
  { document, response }: {
    readonly document: DocumentName;
    readonly response: RegistryResponse;
  },
): RegistryDocument {
  const { kind, identifier } = document;
  const registry = endpoint.host;
  const name = describeDocument(endpoint, document);
  if (response.status !== 200) throw unreadable(endpoint, { document, status: response.status });
  const contentType = response.headers.get("content-type") ?? "";
  const stated = response.headers.get("docker-content-digest") ?? "";
  if (kind === "head") return { bytes: response.body, text: "", contentType, digest: stated };
  const wanted = isDigest(identifier) ? identifier : stated;
  const [algorithm = "sha256"] = wanted.split(":");
  const isVerifiable = HASHES.includes(algorithm);
  if (isDigest(identifier) && !isVerifiable) {
    throw registryError("Malformed", `Cannot verify ${name}: its digest is not sha256, sha384 or sha512.`, {
      registry,
    });
  }
  const hash = isVerifiable ? algorithm : "sha256";
  const digest = `${hash}:${createHash(hash).update(response.body).digest("hex")}`;
  // A container runtime would request the stated digest and refuse this content, too.
  if (isVerifiable && digest !== wanted && (isDigest(identifier) || !contentType.includes(SIGNED))) {
    throw registryError("DigestMismatch", `Cannot trust ${name}: its content has the digest ${digest}.`, {
      registry,
    });
  }
  return { bytes: response.body, text: new TextDecoder().decode(response.body), contentType, digest };
}

/** The error for an answer that is neither the document nor a refusal. */
export function unreadable(
  endpoint: Endpoint,
  { document, status, retryAfterMs }: {
    readonly document: DocumentName;
    readonly status: number;
    readonly retryAfterMs?: number | undefined;
  },
): RegistryError {
  const message = `Cannot read ${describeDocument(endpoint, document)}: the registry answered ${status}.`;
  const reason = status === 429 ? "RateLimited" : status >= 500 ? "ServerError" : "Malformed";
  return registryError(reason, message, { registry: endpoint.host, retryAfterMs });
}

/** The error for a missing document or refused credentials. It names the sources tried, never their secrets. */
export function refusedDocument(
  endpoint: EndpointWithCredentials,
  { document, status }: { readonly document: DocumentName; readonly status: number | undefined },
): RegistryError {
  const registry = endpoint.host;
  const name = describeDocument(endpoint, document);
  if (status === 404) {
    return registryError("ManifestUnknown", `Cannot find ${name}: the registry does not have it.`, { registry });
  }
  const tried = endpoint.credentials.map(({ source }) => source);
  const how = tried.length === 0
    ? "no pull secret matches it"
    : `refused: ${[...new Set(tried)].join(", ")}, anonymous`;
  const message = `Cannot read ${name}: the registry answered ${status ?? 401} (${how}).`;
  return registryError("Unauthorized", message, { registry });
}

function describeDocument(endpoint: Endpoint, { kind, identifier }: DocumentName): string {
  const name = renderReference(endpoint, identifier);
  return kind === "config" || kind === "blob" ? `${kind} "${name}"` : `image "${name}"`;
}
