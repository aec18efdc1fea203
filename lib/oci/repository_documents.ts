// The documents of one repository at one host: requested, checked by their digests and parsed.
import { unparsable } from "../parsed.ts";
import type { Credential } from "./credential.ts";
import type { RegistryMessage } from "./http/exchange.ts";
import {
  type DocumentName,
  documentUrl,
  refusedDocument,
  type RegistryDocument,
  toDocument,
  unreadable,
} from "./image/document.ts";
import {
  type ConfigDocument,
  MANIFEST_MEDIA_TYPES,
  type ManifestDocument,
  parseImageConfig,
  parseManifest,
  renderMediaType,
} from "./image/manifest.ts";
import type { EndpointWithCredentials } from "./endpoint.ts";
import type { RepositoryClient, RepositoryOutcome } from "./repository_client.ts";

/** A manifest without its text, which would take memory while many images are read at a time. */
export interface ReadManifest extends Pick<RegistryDocument, "digest"> {
  readonly manifest: ManifestDocument;
}

/** A manifest as it came, to be written elsewhere byte by byte. */
export type WholeManifest = ReadManifest & RegistryDocument;

interface RepositoryDocumentsOptions {
  readonly client: RepositoryClient;
  readonly retrying?: (<T>(read: () => Promise<T>) => Promise<T>) | undefined;
}

const MIB = 1024 * 1024;
const ACCEPT = MANIFEST_MEDIA_TYPES.join(", ");

/** Registries need not accept manifests beyond 4 MiB. An index may name many; each is far below 1 MiB. */
const MESSAGES: Readonly<Record<DocumentName["kind"], RegistryMessage>> = {
  manifest: { kind: "manifestGet", method: "GET", accept: ACCEPT, maxBytes: 4 * MIB },
  child: { kind: "manifestGet", method: "GET", accept: ACCEPT, maxBytes: MIB },
  head: { kind: "manifestHead", method: "HEAD", accept: ACCEPT, maxBytes: 4 * MIB },
  config: { kind: "blobGet", method: "GET", maxBytes: MIB },
  blob: {
    kind: "blobGet",
    method: "GET",
    maxBytes: MIB,
    isStreamed: true,
    // The time until the blob begins, and until any other answer is complete.
    timeouts: { headersMs: 30_000, totalMs: 60_000 },
  },
};

/**
 * Sends nothing before the first read. Reads throw RegistryError where a document is missing, refused, or not what its
 * digest says.
 */
export class RepositoryDocuments {
  readonly #client: RepositoryClient;
  readonly #retrying: NonNullable<RepositoryDocumentsOptions["retrying"]>;

  constructor({ client, retrying = (read) => read() }: RepositoryDocumentsOptions) {
    this.#client = client;
    this.#retrying = retrying;
  }

  get endpoint(): EndpointWithCredentials {
    return this.#client.endpoint;
  }

  /** The credential that a document was read with; undefined while all were read anonymously. */
  get credential(): Credential | undefined {
    return this.#client.lastUsedCredential;
  }

  manifest(identifier: string): Promise<ReadManifest> {
    return this.#read({ kind: "manifest", identifier }, toReadManifest);
  }

  child(identifier: string): Promise<ReadManifest> {
    return this.#read({ kind: "child", identifier }, toReadManifest);
  }

  whole(kind: "manifest" | "child", identifier: string): Promise<WholeManifest> {
    return this.#read({ kind, identifier }, toWholeManifest);
  }

  /** The config of an image. A schema 1 manifest contains it. */
  async config(manifest: Extract<ManifestDocument, { kind: "manifest" | "schema1" }>): Promise<ConfigDocument> {
    if (manifest.kind === "schema1") {
      const { platform, labels } = manifest;
      return { kind: "config", platform, labels, osVersion: "", osFeatures: [] };
    }
    const { isImage, config: { digest, mediaType } } = manifest;
    if (!isImage) return unparsable(`the type of its config is ${renderMediaType(mediaType)}`);
    return await this.#read({ kind: "config", identifier: digest }, ({ text }) => parseImageConfig(text));
  }

  head(identifier: string): Promise<RegistryDocument> {
    return this.#read({ kind: "head", identifier }, (document) => document);
  }

  /** The bytes as they come, unchecked and without retries. The stream fails with RegistryError. */
  async blob(digest: string): Promise<ReadableStream<Uint8Array>> {
    const name = { kind: "blob", identifier: digest } as const;
    const { response: { status, stream } } = await this.#request(name);
    if (status === 200) return stream ?? new Blob([]).stream();
    throw unreadable(this.endpoint, { document: name, status });
  }

  #read<T>(name: DocumentName, parse: (document: RegistryDocument) => T): Promise<T> {
    return this.#retrying(async () => {
      using memory = new DisposableStack();
      const sent = await this.#request(name, memory);
      return await this.#client.parseInTurn(
        sent.response,
        () => parse(toDocument(this.endpoint, { document: name, ...sent })),
      );
    });
  }

  async #request(
    document: DocumentName,
    memory?: DisposableStack,
  ): Promise<Extract<RepositoryOutcome, { kind: "answered" }>> {
    const { endpoint } = this.#client;
    const message = { ...MESSAGES[document.kind], memory };
    const sent = await this.#client.send({
      message,
      urlBy: (scheme) => documentUrl(endpoint, { ...document, scheme }),
      // Anything but "not for you" and "not there" ends the search for a credential.
      isFinal: ({ status }) => ![401, 403, 404].includes(status),
    });
    if (sent.kind === "refused") throw refusedDocument(endpoint, { document, status: sent.response?.status });
    const { status, absence, pauseMs } = sent.response;
    if (status !== 429 && status < 500) return sent;
    // This answer is final but no document: the registry limits requests or fails, or a 500 says that the document is
    // gone.
    if (absence !== undefined) throw refusedDocument(endpoint, { document, status: 404 });
    throw unreadable(endpoint, { document, status, retryAfterMs: pauseMs });
  }
}

function toReadManifest({ text, contentType, digest }: RegistryDocument): ReadManifest {
  return { manifest: parseManifest(text, contentType), digest };
}

function toWholeManifest(document: RegistryDocument): WholeManifest {
  return { ...document, manifest: parseManifest(document.text, document.contentType) };
}
