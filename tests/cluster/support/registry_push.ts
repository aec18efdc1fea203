// Pushes images by plain HTTP: blobs, then manifests, then the index.
import { type Blob, buildImage, type ImageDocument, type ImageDocuments, type ImageSpec } from "./image_documents.ts";
import type { IssuedCertificate } from "./pki.ts";

export interface Pushed {
  readonly digest: string;
  /** Digests of the manifests of the index, attestations last; empty for a single manifest. */
  readonly children: readonly string[];
}

export interface RegistryPushOptions {
  readonly url: string;
  readonly caPem: string;
  readonly clientCertificate: IssuedCertificate;
  authorize(repository: string): Promise<string | undefined>;
}

interface Target {
  readonly repository: string;
  readonly reference: string;
}

export class RegistryPush implements Disposable {
  readonly #options: RegistryPushOptions;
  readonly #client: Deno.HttpClient;
  readonly #known = new Set<string>();

  constructor(options: RegistryPushOptions) {
    this.#options = options;
    const { certificatePem: cert, keyPem: key } = options.clientCertificate;
    this.#client = Deno.createHttpClient({ caCerts: [options.caPem], cert, key, http2: false });
  }

  async pushImage(
    { repository, tag }: { readonly repository: string; readonly tag: string },
    spec: ImageSpec,
  ): Promise<Pushed> {
    return await this.pushDocuments({ repository, tag }, await buildImage(`${repository}:${tag}`, spec));
  }

  async pushDocuments(
    { repository, tag }: { readonly repository: string; readonly tag: string },
    { blobs, children, top }: ImageDocuments,
  ): Promise<Pushed> {
    for (const blob of blobs) await this.#pushBlob(repository, blob);
    for (const child of children) await this.pushManifest({ repository, reference: child.digest }, child);
    await this.pushManifest({ repository, reference: tag }, top);
    return { digest: top.digest, children: children.map((child) => child.digest) };
  }

  async pushManifest(target: Target, { bytes, mediaType }: Omit<ImageDocument, "digest">): Promise<string> {
    const response = await this.#send(target, `manifests/${target.reference}`, {
      method: "PUT",
      body: bytes,
      headers: { "content-type": mediaType },
    });
    return response.headers.get("docker-content-digest") ?? "";
  }

  async deleteManifest(target: Target): Promise<void> {
    await this.#send(target, `manifests/${target.reference}`, { method: "DELETE" });
  }

  async #pushBlob(repository: string, { digest, bytes }: Blob): Promise<void> {
    const key = `${repository}@${digest}`;
    if (this.#known.has(key)) return;
    const target = { repository, reference: digest };
    const opened = await this.#send(target, "blobs/uploads/", { method: "POST" });
    const location = new URL(opened.headers.get("location") ?? "", this.#options.url);
    location.searchParams.set("digest", digest);
    await this.#send(target, location, {
      method: "PUT",
      body: bytes,
      headers: { "content-type": "application/octet-stream" },
    });
    this.#known.add(key);
  }

  async #send({ repository, reference }: Target, path: string | URL, init: RequestInit): Promise<Response> {
    const url = typeof path === "string" ? `${this.#options.url}/v2/${repository}/${path}` : path;
    const authorization = await this.#options.authorize(repository);
    const headers = new Headers(init.headers);
    if (authorization !== undefined) headers.set("authorization", authorization);
    const response = await fetch(url, { ...init, headers, client: this.#client });
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`Cannot push "${repository}" ${reference}: the registry answered ${response.status}: ${text}`);
    }
    return response;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}
