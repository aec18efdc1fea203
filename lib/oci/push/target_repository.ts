// A repository to push to: manifests, blob mounts, and the requests of uploads.
import type { RegistryMessage, RegistryResponse } from "../http/exchange.ts";
import { documentUrl, rootUrl } from "../image/document.ts";
import { MANIFEST_MEDIA_TYPES } from "../image/manifest.ts";
import type { EndpointWithCredentials } from "../endpoint.ts";
import { CONTENT_DIGEST, renderReference } from "../reference.ts";
import type { RepositoryClient, RepositoryRequest } from "../repository_client.ts";
import { RepositoryDocuments } from "../repository_documents.ts";
import { PushError, type PushReason } from "./push_error.ts";
import { judgeRefusal } from "./write_answer.ts";

export interface ManifestContent {
  readonly mediaType: string;
  readonly digest: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

type MountOutcome =
  | { readonly kind: "mounted" }
  | { readonly kind: "upload"; readonly upload: UploadLocation }
  | { readonly kind: "refused" };

export interface UploadLocation {
  /** The URL of the next request, with its query, which may be secret. */
  readonly location: string;
  /** The registry's minimum size of a piece, which it states at the start; 0 when not given. */
  readonly leastPieceBytes: number;
}

type Write = Pick<RepositoryRequest, "urlBy" | "signal"> & { readonly message: Omit<RegistryMessage, "maxBytes"> };

const MAX_ANSWER_BYTES = 64 * 1024;
/** Leaves time to verify content or move it to another storage (ms). */
const WRITE_TIMEOUTS = { headersMs: 30_000, totalMs: 60_000 };

export class TargetRepository {
  readonly #client: RepositoryClient;

  constructor(client: RepositoryClient) {
    this.#client = client;
  }

  get endpoint(): EndpointWithCredentials {
    return this.#client.endpoint;
  }

  async readDigest(reference: string): Promise<string | undefined> {
    const name = { kind: "head", identifier: reference } as const;
    const answer = await this.#send({
      message: { kind: "manifestHead", method: "HEAD", accept: MANIFEST_MEDIA_TYPES.join(", ") },
      urlBy: (scheme) => documentUrl(this.endpoint, { ...name, scheme }),
    });
    if (answer?.status === 404) return undefined;
    if (answer?.status !== 200) throw this.#refusal(answer, `look up ${this.#nameOf(reference)}`);
    const digest = answer.headers.get("docker-content-digest") ?? "";
    if (CONTENT_DIGEST.test(digest)) return digest;
    return (await new RepositoryDocuments({ client: this.#client }).manifest(reference)).digest;
  }

  async hasBlob(digest: string): Promise<boolean> {
    const answer = await this.#send({
      message: { kind: "other", method: "HEAD" },
      urlBy: (scheme) => documentUrl(this.endpoint, { kind: "blob", identifier: digest, scheme }),
    });
    if (answer?.status === 200) return true;
    if (answer?.status === 404) return false;
    throw this.#refusal(answer, `look up blob ${this.#nameOf(digest)}`);
  }

  async putManifest(reference: string, { mediaType, digest, bytes }: ManifestContent): Promise<void> {
    const answer = await this.#send({
      message: {
        kind: "other",
        method: "PUT",
        body: { contentType: mediaType, content: bytes },
        timeouts: WRITE_TIMEOUTS,
      },
      urlBy: (scheme) => documentUrl(this.endpoint, { kind: "manifest", identifier: reference, scheme }),
    });
    if (answer === undefined || answer.status < 200 || answer.status > 299) {
      throw this.#refusal(answer, `push ${this.#nameOf(reference)}`);
    }
    const stated = answer.headers.get("docker-content-digest");
    if (stated === null || stated === digest) return;
    throw this.failure(
      "DigestMismatch",
      `Cannot trust ${this.#nameOf(reference)}: the registry says that what was pushed as ${digest} is ${
        stated.slice(0, 200)
      }.`,
    );
  }

  async deleteManifest(digest: string): Promise<"deleted" | "absent" | "unsupported" | "denied"> {
    const answer = await this.#send({
      message: { kind: "other", method: "DELETE", timeouts: WRITE_TIMEOUTS },
      urlBy: (scheme) => documentUrl(this.endpoint, { kind: "manifest", identifier: digest, scheme }),
    });
    const status = answer?.status ?? 401;
    if (status >= 200 && status <= 299) return "deleted";
    if (status === 404) return "absent";
    if (status === 405 || status === 501) return "unsupported";
    if (status === 401 || status === 403) return "denied";
    throw this.#refusal(answer, `delete ${this.#nameOf(digest)}`);
  }

  /** Mounts a blob from another repository of the same registry, without sending its bytes. */
  async mount(digest: string, from: string): Promise<MountOutcome> {
    const answer = await this.#send({
      message: { kind: "other", method: "POST", timeouts: WRITE_TIMEOUTS },
      urlBy: (scheme) => this.#uploadsUrl(scheme, { mount: digest, from }),
    });
    if (answer?.status === 201) return { kind: "mounted" };
    if (answer?.status === 202) return { kind: "upload", upload: this.#locationOf(answer) };
    if (answer === undefined || answer.status < 429) return { kind: "refused" };
    throw this.#refusal(answer, `mount ${this.#nameOf(digest)}`);
  }

  async startUpload(): Promise<UploadLocation> {
    const answer = await this.#send({
      message: { kind: "other", method: "POST", timeouts: WRITE_TIMEOUTS },
      urlBy: (scheme) => this.#uploadsUrl(scheme, {}),
    });
    if (answer?.status === 202) return this.#locationOf(answer);
    throw this.#refusal(answer, `push to "${this.name}"`);
  }

  /** Sends one request of an upload and gives any answer; undefined when no credential is accepted. */
  async sendToUpload(
    { location }: UploadLocation,
    { message, digest, signal }: {
      readonly message: Omit<RegistryMessage, "maxBytes" | "kind">;
      readonly digest?: string | undefined;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<RegistryResponse | undefined> {
    return await this.#send({
      message: { kind: "other", ...message },
      urlBy: (scheme) => this.#locationUrl(location, { scheme, digest }),
      signal,
    });
  }

  /** The upload after an answer to one of its requests; unchanged when the answer has no `Location`. */
  next(upload: UploadLocation, answer: RegistryResponse): UploadLocation {
    return answer.headers.has("location") ? this.#locationOf(answer) : upload;
  }

  uploadRefused(answer: RegistryResponse | undefined, digest: string): PushError {
    return this.#refusal(answer, `push blob ${this.#nameOf(digest)}`);
  }

  failure(reason: PushReason, message: string, kind: "permanent" | "transient" = "permanent"): PushError {
    return new PushError({ kind, reason, message, registry: this.endpoint.host });
  }

  get name(): string {
    return `${this.endpoint.host}/${this.endpoint.repository}`;
  }

  /** Undefined when no credential is accepted and no answer came. */
  async #send({ message, ...write }: Write): Promise<RegistryResponse | undefined> {
    const request = { ...write, message: { maxBytes: MAX_ANSWER_BYTES, ...message }, isFinal: isFinalWrite };
    return (await this.#client.send(request)).response;
  }

  #uploadsUrl(scheme: "https" | "http", query: Readonly<Record<string, string>>): URL {
    const url = new URL(`${rootUrl(this.endpoint, scheme)}${this.endpoint.repository}/blobs/uploads/`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }

  #locationOf({ headers }: RegistryResponse): UploadLocation {
    const location = headers.get("location") ?? "";
    const least = Number(headers.get("oci-chunk-min-length") ?? 0);
    // Throws now, not at the next request, which may already read a stream.
    this.#locationUrl(location, { scheme: "https" });
    return { location, leastPieceBytes: Number.isSafeInteger(least) && least > 0 ? least : 0 };
  }

  /** Credentials and content only go to the registry itself. Behind a proxy, the registry may name the wrong scheme. */
  #locationUrl(
    location: string,
    { scheme, digest }: { readonly scheme: "https" | "http"; readonly digest?: string | undefined },
  ): URL {
    const own = this.#uploadsUrl(scheme, {});
    const named = location !== "" && URL.canParse(location, own) ? new URL(location, own) : undefined;
    if (named === undefined || !isSamePlace(named, own)) {
      throw this.failure("Refused", `Cannot push to "${this.name}": the registry wants the upload sent elsewhere.`);
    }
    const url = new URL(own);
    url.pathname = named.pathname;
    url.search = named.search;
    if (digest !== undefined) url.searchParams.set("digest", digest);
    return url;
  }

  #refusal(answer: RegistryResponse | undefined, what: string): PushError {
    const registry = this.endpoint.host;
    const { kind, reason, says } = judgeRefusal(answer ?? { status: 401, body: new Uint8Array() });
    const tried = [...new Set(this.endpoint.credentials.map(({ source }) => source))];
    const retryAfterMs = answer?.pauseMs;
    const advice = adviceFor(reason, { tried, name: this.name, retryAfterMs });
    const message = `Cannot ${what}: the registry answered ${says}.${advice}`;
    return new PushError({ kind, reason, message, registry, retryAfterMs });
  }

  #nameOf(identifier: string): string {
    return `"${renderReference(this.endpoint, identifier)}"`;
  }
}

/** Whether a URL has this host and port. Without a port, either scheme matches. */
function isSamePlace(named: URL, own: URL): boolean {
  const isWeb = named.protocol === "https:" || named.protocol === "http:";
  const isOwnPort = named.port === own.port || named.protocol !== own.protocol && named.port === "";
  return isWeb && named.hostname === own.hostname && isOwnPort;
}

/** A 401 or 403 is not final, nor is a 404 without a login, which some registries send instead. */
function isFinalWrite({ status }: RegistryResponse, isLoggedIn: boolean): boolean {
  return status !== 401 && status !== 403 && (status !== 404 || isLoggedIn);
}

/** What to do next, where the registry's message does not say. */
function adviceFor(
  reason: PushReason,
  { tried, name, retryAfterMs }: {
    readonly tried: readonly string[];
    readonly name: string;
    readonly retryAfterMs: number | undefined;
  },
): string {
  if (retryAfterMs !== undefined) return ` It wants to be left alone for ${Math.ceil(retryAfterMs / 1_000)} s.`;
  if (reason === "Unauthorized") {
    return tried.length === 0
      ? " No credential matches it: name a docker config that has one by dockerConfig in the file of --config."
      : ` Refused: ${
        tried.join(", ")
      }, anonymous. Log in again, or name another docker config by dockerConfig in the file of --config.`;
  }
  if (reason === "PushDenied") return ` The login must be allowed to push to "${name}".`;
  return "";
}
