// Builds image documents (configs, manifests, indexes) from short specs, byte by byte reproducible. Used by registry.ts.

const MediaTypes = {
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

// A gzipped empty tar archive (two zero blocks), the smallest true layer, without a time stamp.
const EMPTY_LAYER = Uint8Array.fromHex("1f8b0800000000000003621805a360140000002ed6a0b5e9df04000000".slice(0, 0)); // set by emptyLayer()

/** A platform of an image. `os` defaults to linux. */
export interface PlatformSpec {
  readonly os?: string;
  readonly architecture: string;
  readonly variant?: string;
}

/** What an image is made of: an index of platforms, or a single manifest. */
export type ImageSpec =
  & {
    readonly format?: "oci" | "docker";
    /** Labels of the config, for example those of an operator bundle. */
    readonly labels?: Readonly<Record<string, string>>;
    /** Makes the digests differ from those of an equal spec. Default: repository and tag. */
    readonly salt?: string;
  }
  & (
    | {
      readonly platforms: readonly PlatformSpec[];
      /** One `unknown/unknown` attestation manifest for each platform, as BuildKit makes them. */
      readonly attestations?: boolean;
    }
    | { readonly single: PlatformSpec }
  );

/** Bytes with their digest. */
export interface Blob {
  readonly digest: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A manifest or index as it is pushed. */
export interface Document extends Blob {
  readonly mediaType: string;
}

/** Everything to push, in order: blobs, then manifests, then the top document. */
export interface ImageDocuments {
  readonly blobs: readonly Blob[];
  readonly children: readonly (Document & { readonly platform: PlatformSpec })[];
  readonly top: Document;
}
