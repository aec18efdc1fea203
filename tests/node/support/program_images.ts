// Images with a real program in them, made without a builder: a test decides what index, config and program each claim.
import {
  type Blob as ImageBlob,
  describe,
  type ImageDocument,
  type ImageDocuments,
  toBlob,
  toDocument,
  writeLayout,
} from "../../cluster/support/image_documents.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { runCommand } from "../../support/commands.ts";

export type NodeArch = "amd64" | "arm64";

export interface ProgramPlatform {
  /** What index and config say: a GOARCH name. */
  readonly claims: string;
  /** What the program was built for. Default: what is claimed; amd64 where no test node has that. */
  readonly holds?: NodeArch;
}

export type ProgramImage =
  & (
    | { readonly kind: "index"; readonly platforms: readonly ProgramPlatform[] }
    | { readonly kind: "single"; readonly platform: ProgramPlatform }
  )
  & {
    readonly labels?: Readonly<Record<string, string>> | undefined;
  };

const OCI = "application/vnd.oci.image";
const MANIFEST = `${OCI}.manifest.v1+json`;
const INDEX = `${OCI}.index.v1+json`;
const CONFIG = `${OCI}.config.v1+json`;
const LAYER = `${OCI}.layer.v1.tar+gzip`;

/** The documents of an image whose entry point is the program, `/app`. */
export async function buildProgramImage(
  image: ProgramImage,
  programs: Readonly<Record<NodeArch, string>>,
): Promise<ImageDocuments> {
  const { labels } = image;
  if (image.kind === "single") {
    const { blobs, manifest } = await buildManifest(image.platform, { programs, labels });
    return { blobs, children: [], top: manifest };
  }
  const parts = await Promise.all(image.platforms.map(async (platform) => ({
    platform,
    ...await buildManifest(platform, { programs, labels }),
  })));
  const manifests = parts.map(({ platform, manifest }) => ({
    ...describe(MANIFEST, manifest),
    platform: { os: "linux", architecture: platform.claims },
  }));
  return {
    blobs: parts.flatMap(({ blobs }) => blobs),
    children: parts.map(({ manifest }) => manifest),
    top: await toDocument({ schemaVersion: 2, mediaType: INDEX, manifests }, INDEX),
  };
}

async function buildManifest(
  { claims, holds = claims === "arm64" ? "arm64" : "amd64" }: ProgramPlatform,
  { programs, labels }: Pick<ProgramImage, "labels"> & { readonly programs: Readonly<Record<NodeArch, string>> },
): Promise<{ readonly blobs: readonly ImageBlob[]; readonly manifest: ImageDocument }> {
  const archive = await readArchive(programs[holds]);
  const layer = await toBlob(await gzip(archive));
  const config = await toDocument({
    architecture: claims,
    os: "linux",
    config: {
      Entrypoint: ["/app"],
      Cmd: ["pause"],
      Env: ["PATH=/"],
      ...(labels === undefined ? {} : { Labels: labels }),
    },
    rootfs: { type: "layers", diff_ids: [(await toBlob(archive)).digest] },
  }, CONFIG);
  const manifest = await toDocument({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: describe(CONFIG, config),
    layers: [describe(LAYER, layer)],
  }, MANIFEST);
  return { blobs: [layer, config], manifest };
}

/** A tar archive with the program and the folders that a container needs; equal bytes for equal programs. */
async function readArchive(program: string): Promise<Uint8Array<ArrayBuffer>> {
  await using folder = await temporaryFolder();
  const [root, archive] = [`${folder.path}/root`, `${folder.path}/layer.tar`];
  for (const name of ["tmp", "etc", "proc", "sys", "dev"]) await Deno.mkdir(`${root}/${name}`, { recursive: true });
  await Deno.copyFile(program, `${root}/app`);
  await Deno.chmod(`${root}/app`, 0o755);
  const same = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
  await runCommand("tar", [...same, "-C", root, "-cf", archive, "."]);
  return await Deno.readFile(archive);
}

async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Writes an image as an OCI archive that `ctr images import` takes under `name`. */
export async function writeOciArchive(file: string, name: string, documents: ImageDocuments): Promise<void> {
  await using folder = await temporaryFolder();
  await writeLayout(folder.path, documents, { "io.containerd.image.name": name });
  await runCommand("tar", ["-C", folder.path, "-cf", file, "."]);
}
