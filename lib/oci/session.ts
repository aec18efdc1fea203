// The documents of one repository at one host: checked by their digests and parsed. All readers of images read through it.
import type { DocumentName, RegistryDocument } from "./image/document.ts";
import {
  type ConfigDocument,
  type ManifestDocument,
  parseImageConfig,
  parseManifest,
  renderMediaType,
} from "./image/manifest.ts";
import type { InspectionContext } from "./request_log.ts";
import type { Endpoint } from "./pull_plan.ts";
import { readDocument } from "./read_document.ts";
import { RepositoryClient, type RepositoryClientDeps } from "./repository_client.ts";

export interface ReadManifest extends Pick<RegistryDocument, "digest" | "credential"> {
  readonly manifest: ManifestDocument;
}

interface SessionOptions<Read> {
  readonly client: RepositoryClient;
  /** What is kept of a manifest: its bytes are needed only by who writes it elsewhere. */
  readonly keep: (document: RegistryDocument) => Read;
  readonly attempt?: (<T>(read: () => Promise<T>) => Promise<T>) | undefined;
}

/** Sends nothing before the first read. Reads throw InspectionError, which names the credentials that were refused. */
export class Session<Read extends ReadManifest = ReadManifest> {
  readonly client: RepositoryClient;
  readonly #options: SessionOptions<Read>;

  constructor(options: SessionOptions<Read>) {
    this.client = options.client;
    this.#options = options;
  }

  manifest(identifier: string): Promise<Read> {
    return this.#read({ kind: "manifest", identifier }, this.#options.keep);
  }

  child(identifier: string): Promise<Read> {
    return this.#read({ kind: "child", identifier }, this.#options.keep);
  }

  /** The config of an image; one of schema 1 has it in its manifest. */
  async config(manifest: Extract<ManifestDocument, { kind: "manifest" | "schema1" }>): Promise<ConfigDocument> {
    if (manifest.kind === "schema1") {
      return { kind: "config", platform: manifest.platform, labels: manifest.labels, osFeatures: [] };
    }
    const { isImage, config: { digest, mediaType } } = manifest;
    if (!isImage) return { kind: "unparsable", problem: `the type of its config is ${renderMediaType(mediaType)}` };
    return await this.#read({ kind: "blob", identifier: digest }, ({ text }) => parseImageConfig(text));
  }

  head(identifier: string): Promise<RegistryDocument> {
    return this.#read({ kind: "head", identifier }, (document) => document);
  }

  #read<T>(name: DocumentName, parse: (document: RegistryDocument) => T): Promise<T> {
    const { client, attempt = (read) => read() } = this.#options;
    return attempt(() => readDocument(client, name, parse));
  }
}

export function openSession(deps: RepositoryClientDeps, endpoint: Endpoint, context: InspectionContext): Session {
  const client = new RepositoryClient(deps, { endpoint, context, rights: "pull" });
  return new Session({ client, keep: keepParsed });
}

/** Many images are read at a time: the text of a manifest goes as soon as it is parsed. */
function keepParsed({ text, contentType, digest, credential }: RegistryDocument): ReadManifest {
  return { manifest: parseManifest(text, contentType), digest, credential };
}
