// Registry documents for tests: configs, manifests and indexes as bytes with their digests. Pure.
import { createHash } from "node:crypto";

export interface Document {
  readonly text: string;
  readonly mediaType: string;
  readonly digest: string;
}

export const MediaType = {
  ociIndex: "application/vnd.oci.image.index.v1+json",
  ociManifest: "application/vnd.oci.image.manifest.v1+json",
  ociConfig: "application/vnd.oci.image.config.v1+json",
  dockerList: "application/vnd.docker.distribution.manifest.list.v2+json",
  dockerManifest: "application/vnd.docker.distribution.manifest.v2+json",
  dockerConfig: "application/vnd.docker.container.image.v1+json",
  schema1: "application/vnd.docker.distribution.manifest.v1+json",
  schema1Signed: "application/vnd.docker.distribution.manifest.v1+prettyjws",
} as const;

export function makeDocument(body: unknown, mediaType: string): Document {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { text, mediaType, digest: digestOf(text) };
}

/** `sha256:…` of a text, or another algorithm's. */
export function digestOf(text: string, algorithm = "sha256"): string {
  return `${algorithm}:${createHash(algorithm).update(text).digest("hex")}`;
}

export function makeImage(
  options: {
    readonly architecture?: string;
    readonly os?: string;
    readonly variant?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly form?: "oci" | "docker";
    readonly configType?: string;
  } = {},
): { readonly config: Document; readonly manifest: Document } {
  const { architecture = "amd64", os = "linux", variant, labels, form = "oci" } = options;
  const types = form === "oci"
    ? { manifest: MediaType.ociManifest, config: MediaType.ociConfig }
    : { manifest: MediaType.dockerManifest, config: MediaType.dockerConfig };
  const config = makeDocument(
    {
      os,
      architecture,
      ...(variant === undefined ? {} : { variant }),
      config: labels === undefined ? {} : { Labels: labels },
    },
    options.configType ?? types.config,
  );
  const manifest = makeDocument(
    { schemaVersion: 2, mediaType: types.manifest, config: descriptorOf(config), layers: [] },
    types.manifest,
  );
  return { config, manifest };
}

export function makeEntry(
  document: Document,
  more: {
    readonly platform?: { readonly os: string; readonly architecture: string; readonly variant?: string };
    readonly annotations?: Readonly<Record<string, string>>;
  } = {},
): Readonly<Record<string, unknown>> {
  return { ...descriptorOf(document), ...more };
}

export function makeIndex(
  entries: readonly unknown[],
  options: { readonly mediaType?: string; readonly body?: Readonly<Record<string, unknown>> } = {},
): Document {
  const { mediaType = MediaType.ociIndex, body = { mediaType } } = options;
  return makeDocument({ schemaVersion: 2, ...body, manifests: entries }, mediaType);
}

/** An index of linux images, with all of its documents. */
export function makeMultiArch(
  architectures: readonly string[],
  options: { readonly labels?: Readonly<Record<string, string>>; readonly mediaType?: string } = {},
): { readonly index: Document; readonly manifests: readonly Document[]; readonly blobs: readonly Document[] } {
  const { labels, mediaType } = options;
  const images = architectures.map((architecture) =>
    makeImage({ architecture, ...(labels === undefined ? {} : { labels }) })
  );
  const entries = images.map(({ manifest }, at) =>
    makeEntry(manifest, { platform: { os: "linux", architecture: architectures[at] ?? "" } })
  );
  return {
    index: makeIndex(entries, mediaType === undefined ? {} : { mediaType }),
    manifests: images.map(({ manifest }) => manifest),
    blobs: images.map(({ config }) => config),
  };
}

function descriptorOf({ mediaType, digest, text }: Document): Readonly<Record<string, unknown>> {
  return { mediaType, digest, size: text.length };
}
