// Builds image documents (configs, manifests, indexes) from short specs, the same bytes each time.

const MEDIA_TYPES = {
  oci: {
    index: "application/vnd.oci.image.index.v1+json",
    manifest: "application/vnd.oci.image.manifest.v1+json",
    config: "application/vnd.oci.image.config.v1+json",
    layer: "application/vnd.oci.image.layer.v1.tar+gzip",
  },
  docker: {
    index: "application/vnd.docker.distribution.manifest.list.v2+json",
    manifest: "application/vnd.docker.distribution.manifest.v2+json",
    config: "application/vnd.docker.container.image.v1+json",
    layer: "application/vnd.docker.image.rootfs.diff.tar.gzip",
  },
} as const;

// `head -c 1024 /dev/zero | gzip -9n`: an empty tar archive, the smallest true layer.
const EMPTY_LAYER_HEX = "1f8b080000000000020363601805a360148c5400002eafb5ef00040000";

export interface PlatformSpec {
  readonly os?: string;
  readonly architecture: string;
  readonly variant?: string;
}

interface SharedSpec {
  readonly format?: "oci" | "docker";
  /** Labels of the config, for example those of an operator bundle. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Makes the digests differ from those of an equal spec. Default: repository and tag. */
  readonly salt?: string;
}

export interface IndexSpec extends SharedSpec {
  readonly platforms: readonly PlatformSpec[];
  /** One `unknown/unknown` attestation manifest for each platform, as BuildKit makes them. */
  readonly attestations?: boolean;
}

/** A manifest without an index: its platform is known from its config alone. */
export interface SingleSpec extends SharedSpec {
  readonly single: PlatformSpec;
}

export type ImageSpec = IndexSpec | SingleSpec;

export interface Blob {
  readonly digest: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface ImageDocument extends Blob {
  readonly mediaType: string;
}

/** Everything to push, in order: blobs, then children, then the top document. */
export interface ImageDocuments {
  readonly blobs: readonly Blob[];
  readonly children: readonly ImageDocument[];
  readonly top: ImageDocument;
}

/** The documents of an image. `name` goes into the config, so that two images never share a digest by accident. */
export async function buildImage(name: string, spec: ImageSpec): Promise<ImageDocuments> {
  const layer = await toBlob(Uint8Array.fromHex(EMPTY_LAYER_HEX));
  const options: BuildOptions = { layer, spec, salt: spec.salt ?? name };
  if ("single" in spec) {
    const { config, manifest } = await buildManifest(spec.single, options);
    return { blobs: [layer, config], children: [], top: manifest };
  }
  return await buildIndex(spec, options);
}

interface BuildOptions {
  readonly layer: Blob;
  readonly spec: SharedSpec;
  readonly salt: string;
}

async function buildIndex(spec: IndexSpec, options: BuildOptions): Promise<ImageDocuments> {
  const types = MEDIA_TYPES[spec.format ?? "oci"];
  const blobs: Blob[] = [options.layer];
  const children: ImageDocument[] = [];
  const entries: unknown[] = [];
  for (const platform of spec.platforms) {
    const { config, manifest } = await buildManifest(platform, options);
    blobs.push(config);
    children.push(manifest);
    entries.push({ ...describe(manifest.mediaType, manifest), platform: { os: "linux", ...platform } });
  }
  if (spec.attestations === true) {
    for (const subject of [...children]) {
      const { config, manifest } = await buildManifest({ os: "unknown", architecture: "unknown" }, {
        ...options,
        salt: subject.digest,
      });
      blobs.push(config);
      children.push(manifest);
      entries.push(describeAttestation(manifest, subject));
    }
  }
  const top = await toDocument({ schemaVersion: 2, mediaType: types.index, manifests: entries }, types.index);
  return { blobs, children, top };
}

function describeAttestation(manifest: ImageDocument, subject: ImageDocument): unknown {
  return {
    ...describe(manifest.mediaType, manifest),
    platform: { os: "unknown", architecture: "unknown" },
    annotations: {
      "vnd.docker.reference.type": "attestation-manifest",
      "vnd.docker.reference.digest": subject.digest,
    },
  };
}

async function buildManifest(
  platform: PlatformSpec,
  { layer, spec, salt }: BuildOptions,
): Promise<{ readonly config: Blob; readonly manifest: ImageDocument }> {
  const types = MEDIA_TYPES[spec.format ?? "oci"];
  const diffId = (await toBlob(new Uint8Array(1024))).digest;
  const config = await toDocument({
    created: "2026-01-01T00:00:00Z",
    os: "linux",
    ...platform,
    config: {
      Env: [`IMAGE=${salt}`],
      Cmd: ["/bin/true"],
      ...(spec.labels === undefined ? {} : { Labels: spec.labels }),
    },
    rootfs: { type: "layers", diff_ids: [diffId] },
    history: [{ created: "2026-01-01T00:00:00Z", created_by: "nothing" }],
  }, types.config);
  const document = {
    schemaVersion: 2,
    mediaType: types.manifest,
    config: describe(types.config, config),
    layers: [describe(types.layer, layer)],
  };
  return { config, manifest: await toDocument(document, types.manifest) };
}

export function describe(mediaType: string, { digest, bytes }: Blob): Readonly<Record<string, unknown>> {
  return { mediaType, digest, size: bytes.length };
}

export async function toDocument(value: unknown, mediaType: string): Promise<ImageDocument> {
  return { ...await toBlob(new TextEncoder().encode(JSON.stringify(value))), mediaType };
}

/** Writes an OCI image layout, as builders do, in which the image has these annotations. */
export async function writeLayout(
  folder: string,
  { blobs, children, top }: ImageDocuments,
  annotations: Readonly<Record<string, string>>,
): Promise<void> {
  await Deno.mkdir(`${folder}/blobs/sha256`, { recursive: true });
  for (const { digest, bytes } of [...blobs, ...children, top]) {
    await Deno.writeFile(`${folder}/blobs/${digest.replace(":", "/")}`, bytes);
  }
  const index = { schemaVersion: 2, manifests: [{ ...describe(top.mediaType, top), annotations }] };
  await Deno.writeTextFile(`${folder}/index.json`, JSON.stringify(index));
  await Deno.writeTextFile(`${folder}/oci-layout`, JSON.stringify({ imageLayoutVersion: "1.0.0" }));
}

export async function toBlob(bytes: Uint8Array<ArrayBuffer>): Promise<Blob> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  return { digest: `sha256:${hash}`, bytes };
}
