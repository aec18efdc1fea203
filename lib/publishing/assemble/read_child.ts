// Reads the images to join: manifest and config of each, from the first endpoint that has it.
import pLimit from "p-limit";
import { registryError } from "../../oci/errors.ts";
import type { ManifestDocument } from "../../oci/image/manifest.ts";
import { type Endpoint, isSameRepository } from "../../oci/endpoint.ts";
import type { OpenImage, Repositories } from "../../oci/repositories.ts";
import type { RepositoryDocuments } from "../../oci/repository_documents.ts";
import {
  checkEntry,
  type ChildConfig,
  type ChildImage,
  type ChildProblem,
  type EntryFinding,
  type EntryKind,
  type ImagePlatform,
  judgeConfig,
  judgeDocument,
  judgeManifest,
  kindOfEntry,
} from "../decide/child.ts";
import { type AssembleProblem, problemOf } from "./problem.ts";

export interface JoinableImage extends ChildImage {
  readonly kind: "image";
  readonly leftOut: readonly LeftOut[];
  /** The platform that its surrounding index claims, when it differs from the image's own. */
  readonly findings: readonly EntryFinding[];
  readonly labels: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly text: string;
}

export interface LeftOut {
  readonly kind: EntryKind;
  readonly digest: string;
}

export interface OpenChild {
  readonly kind: "child";
  readonly child: JoinableImage;
  readonly source: RepositoryDocuments;
  /** The image at its own registry, even if it was read from a mirror. */
  readonly home: Endpoint;
}

type ChildRead = OpenChild | { readonly kind: "problem"; readonly problem: AssembleProblem };

export interface ReadDeps {
  readonly repositories: Repositories;
  readonly signal: AbortSignal;
}

/** Images read at a time: each holds a manifest of up to 4 MiB. */
const MAX_PARALLEL_READS = 4;

/** Reads all images in order. An image in the target's repository is never read from a mirror. */
export async function readChildren(
  images: readonly string[],
  target: Endpoint,
  deps: ReadDeps,
): Promise<readonly ChildRead[]> {
  const limit = pLimit(MAX_PARALLEL_READS);
  return await Promise.all(images.map((image) =>
    limit(async (): Promise<ChildRead> => {
      try {
        return await readChild(image, target, deps);
      } catch (error) {
        const problem = problemOf(error, deps.signal, image);
        return { kind: "problem", problem };
      }
    })
  ));
}

async function readChild(image: string, target: Endpoint, { repositories }: ReadDeps): Promise<ChildRead> {
  const all = repositories.endpointsOf(image);
  const home = all.find(({ isMirror }) => !isMirror) ?? all[0];
  if (home === undefined) throw registryError("Misconfigured", `Cannot read "${image}": no registry is configured.`);
  const endpoints = isSameRepository(home, target) ? [home] : all;
  return await repositories.read({ image, retries: "bounded", endpoints }, async (opened) => {
    const child = await readJoinableImage(image, opened);
    if (child.kind === "image") return { kind: "child", child, source: opened.documents, home };
    const { reason, state } = child;
    const message = `Cannot join "${image}": ${state}.`;
    return { kind: "problem", problem: { kind: "permanent", image, reason, message } };
  });
}

export async function readJoinableImage(
  image: string,
  { top, documents }: OpenImage,
): Promise<JoinableImage | ChildProblem> {
  const judged = judgeDocument(top.manifest);
  if (judged.kind === "problem") return judged;
  const whole = judged.kind === "inner" ? await documents.whole("child", judged.digest) : top;
  const { digest, bytes, text } = whole;
  const own = await readJoinableConfig(documents, whole.manifest);
  if (own.kind === "problem") return own;
  const leftOut = leftOutBeside(digest, top.manifest);
  const findings = mismatchIn(top.manifest, digest, own.platform);
  return { image, ...own, kind: "image", digest, bytes, text, size: bytes.byteLength, leftOut, findings };
}

function mismatchIn(document: ManifestDocument, image: string, own: ImagePlatform): readonly EntryFinding[] {
  const entries = document.kind === "index" ? document.entries.filter(({ digest }) => digest === image) : [];
  return entries.flatMap((entry) => checkEntry(entry, own)).filter(({ kind }) => kind === "PlatformMismatch");
}

function leftOutBeside(image: string, document: ManifestDocument): readonly LeftOut[] {
  if (document.kind !== "index") return [];
  const others = document.entries.filter(({ digest }) => digest !== image);
  return others.map((entry) => ({ kind: kindOfEntry(entry), digest: entry.digest }));
}

export async function readJoinableConfig(
  documents: RepositoryDocuments,
  manifest: ManifestDocument,
): Promise<ChildConfig & Pick<ChildImage, "form" | "mediaType"> | ChildProblem> {
  const judged = judgeManifest(manifest);
  if (judged.kind === "problem") return judged;
  const config = judgeConfig(await documents.config(judged.manifest));
  return config.kind === "problem" ? config : { ...config, form: judged.form, mediaType: judged.manifest.mediaType };
}
