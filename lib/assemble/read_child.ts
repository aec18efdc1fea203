// Reads an image that is to be joined: its manifest and its config, at the first place that has it.
import pLimit from "p-limit";
import { type ChildImage, judgeConfig, judgeDocument } from "../index/child.ts";
import { inspectionError } from "../oci/errors.ts";
import { parseManifest } from "../oci/image/manifest.ts";
import type { Endpoint } from "../oci/pull_plan.ts";
import type { ReadDocument } from "../oci/read_document.ts";
import type { RepositoryClient } from "../oci/repository_client.ts";
import { type AssembleProblem, problemOf } from "./problem.ts";
import { readAgain, type ReadDeps, readFirst } from "./read_places.ts";
import { isSameRepository } from "./repositories.ts";

/** An image that was read and is well. */
export interface ReadChild {
  readonly kind: "child";
  readonly child: ChildImage;
  /** Its manifest as it came. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly text: string;
  /** Where its blobs are read. */
  readonly source: RepositoryClient;
  /** Its own place, if it was read from a mirror as well as otherwise. */
  readonly home: Endpoint;
}

/** What came of reading an image. */
export type ChildRead = ReadChild | { readonly kind: "problem"; readonly problem: AssembleProblem };

/** Images read at a time: each holds a manifest of up to 4 MiB. */
const READ_AT_ONCE = 4;

/** Reads all of them, in their order. An image in the target's repository is read there, and from no mirror. */
export async function readChildren(
  images: readonly string[],
  { target, ...deps }: ReadDeps & { readonly target: Endpoint },
): Promise<readonly ChildRead[]> {
  const limit = pLimit(READ_AT_ONCE);
  return await Promise.all(images.map((image) =>
    limit(async (): Promise<ChildRead> => {
      try {
        return await readOne(image, { ...deps, target });
      } catch (error) {
        const problem = deps.signal.aborted ? undefined : problemOf(error, image);
        if (problem === undefined) throw error;
        return { kind: "problem", problem };
      }
    })
  ));
}

async function readOne(
  image: string,
  { target, ...deps }: ReadDeps & { readonly target: Endpoint },
): Promise<ChildRead> {
  const plan = deps.repositories.plan(image);
  if (plan.kind === "refused") return { kind: "problem", problem: { ...plan.failure, image } };
  const home = plan.endpoints.find(({ mirror }) => !mirror) ?? plan.endpoints[0];
  if (home === undefined) throw inspectionError("Misconfigured", `Cannot read "${image}": no registry is configured.`);
  const endpoints = isSameRepository(home, target) ? [home] : plan.endpoints;
  return await readFirst(
    endpoints,
    deps,
    (source, { reference }) => readAt(image, { ...deps, source, reference, home }),
  );
}

type Place = ReadDeps & { readonly source: RepositoryClient; readonly reference: string; readonly home: Endpoint };

async function readAt(image: string, place: Place): Promise<ChildRead> {
  const { source, reference, home } = place;
  const top = await readAgain(source, { kind: "manifest", identifier: reference }, place);
  const first = judge(top, { isInner: false });
  const isIndex = first.kind === "inner";
  const manifest = isIndex ? await readAgain(source, { kind: "child", identifier: first.digest }, place) : top;
  const judged = isIndex ? judge(manifest, { isInner: true }) : first;
  if (judged.kind !== "image") {
    const { reason, state } = judged.kind === "problem"
      ? judged
      : { reason: "NestedIndex", state: "its index holds another index" };
    return unjoinable(image, reason, state);
  }
  const config = judgeConfig(
    (await readAgain(source, { kind: "blob", identifier: judged.config }, place)).document.text,
  );
  if (config.kind === "problem") return unjoinable(image, config.reason, config.state);
  const { digest, text } = manifest.document;
  const { mediaType, form } = judged;
  const size = manifest.bytes.byteLength;
  const child: ChildImage = { image, digest, mediaType, size, form, platform: config.platform };
  return { kind: "child", child, bytes: manifest.bytes, text, source, home };
}

function judge({ document }: ReadDocument, options: { readonly isInner: boolean }): ReturnType<typeof judgeDocument> {
  return judgeDocument(parseManifest(document.text, document.contentType), options);
}

function unjoinable(image: string, reason: string, state: string): ChildRead {
  return {
    kind: "problem",
    problem: { kind: "permanent", image, reason, message: `Cannot join "${image}": ${state}.` },
  };
}
