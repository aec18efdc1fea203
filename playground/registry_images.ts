// Images as bytes: turns one line of description into blobs, manifests and indexes of any form.
import * as z from "zod";
import type { ManifestContent } from "../lib/oci/push/target_repository.ts";

export const IMAGE = z.object({
  /** Without host: `demo/web`. */
  repository: z.string(),
  tag: z.string().default("v1"),
  architectures: z.array(z.string()).readonly(),
  form: z.enum(["oci-index", "docker-list", "oci-manifest", "docker-manifest"]),
  labels: z.record(z.string(), z.string()).optional(),
  access: z.enum(["anonymous", "basic", "token"]).optional(),
});

export type ImageDescription = z.output<typeof IMAGE>;

/** All documents of one image. The last of `manifests` is the one that the tag points at. */
export interface BuiltImage {
  readonly blobs: readonly ManifestContent[];
  readonly manifests: readonly ManifestContent[];
  readonly top: ManifestContent;
}

interface MediaTypes {
  readonly index: string;
  readonly manifest: string;
  readonly config: string;
  readonly layer: string;
}

const OCI: MediaTypes = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
};

const DOCKER: MediaTypes = {
  index: "application/vnd.docker.distribution.manifest.list.v2+json",
  manifest: "application/vnd.docker.distribution.manifest.v2+json",
  config: "application/vnd.docker.container.image.v1+json",
  layer: "application/vnd.docker.image.rootfs.diff.tar.gzip",
};

export async function buildImage(description: ImageDescription): Promise<BuiltImage> {
  const mediaTypes = description.form.startsWith("oci") ? OCI : DOCKER;
  const layer = await content(mediaTypes.layer, `layer of ${description.repository}:${description.tag}`);
  const blobs: ManifestContent[] = [layer];
  const manifests: ManifestContent[] = [];
  const entries: unknown[] = [];
  for (const architecture of description.architectures) {
    const config = await content(mediaTypes.config, renderConfig(description, { architecture, layer }));
    const manifest = await content(mediaTypes.manifest, renderManifest(mediaTypes, config, layer));
    blobs.push(config);
    manifests.push(manifest);
    const variant = architecture === "arm64" ? { variant: "v8" } : {};
    entries.push({ ...descriptor(manifest), platform: { os: systemOf(architecture), architecture, ...variant } });
  }
  const [only] = manifests;
  if (only !== undefined && description.form.endsWith("manifest")) return { blobs, manifests, top: only };
  const index = { schemaVersion: 2, mediaType: mediaTypes.index, manifests: entries };
  const top = await content(mediaTypes.index, index);
  return { blobs, manifests: [...manifests, top], top };
}

function systemOf(architecture: string): string {
  return architecture === "wasm" ? "wasi" : "linux";
}

async function content(mediaType: string, body: unknown): Promise<ManifestContent> {
  const bytes = new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
  return { digest: `sha256:${new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex()}`, mediaType, bytes };
}

function descriptor(document: ManifestContent): Readonly<Record<string, unknown>> {
  return { mediaType: document.mediaType, digest: document.digest, size: document.bytes.length };
}

function renderConfig(
  description: ImageDescription,
  options: { readonly architecture: string; readonly layer: ManifestContent },
): unknown {
  return {
    architecture: options.architecture,
    os: systemOf(options.architecture),
    ...(options.architecture === "arm64" ? { variant: "v8" } : {}),
    config: { Cmd: ["/app"], Labels: description.labels ?? {} },
    rootfs: { type: "layers", diff_ids: [options.layer.digest] },
    history: [],
  };
}

function renderManifest(mediaTypes: MediaTypes, config: ManifestContent, layer: ManifestContent): unknown {
  const layers = [descriptor(layer)];
  return { schemaVersion: 2, mediaType: mediaTypes.manifest, config: descriptor(config), layers };
}
