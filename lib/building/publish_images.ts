// Publishes the images of one build under its tag: one image as it is, several joined to an index. Nothing is published that
// is not whole, and of which every image is for the architecture and of the build that was requested.
import { assembleIndex } from "../assemble/assemble_index.ts";
import { copyChildren } from "../assemble/copy_children.ts";
import { problemOf } from "../assemble/problem.ts";
import { readChildren } from "../assemble/read_child.ts";
import type { Repositories } from "../assemble/repositories.ts";
import type { Clock } from "../clock.ts";
import type { Arch } from "../image_builds/observed.ts";
import { ImageLabel } from "../image_builds/names.ts";
import { inspectionError } from "../oci/errors.ts";
import { withRetries } from "../oci/push/retries.ts";
import type { ManifestContent, TargetRepository } from "../oci/push/target_repository.ts";
import { type FoundImage, lookUpImage } from "./look_up_image.ts";

/** An image to publish. */
export interface BuiltImage {
  readonly arch: Arch;
  /** `registry/repository@sha256:…`. */
  readonly image: string;
  /** What its label must say; absent: it need not have one. */
  readonly buildKey?: string | undefined;
}

/** What to publish. */
export interface PublicationRequest {
  /** `registry/repository:tag`. */
  readonly to: string;
  /** At least one, in any order. */
  readonly images: readonly BuiltImage[];
  /** `single`: the one image itself; `index`: an index, also of one. */
  readonly form: "single" | "index";
}

/** What came of it. */
export type PublicationResult =
  | {
    readonly kind: "published";
    /** `registry/repository@sha256:…`. */
    readonly reference: string;
    readonly digest: string;
    /** Digests of what is in it; of a single image its own. */
    readonly children: readonly string[];
    /** False: the tag named it before. */
    readonly isNew: boolean;
  }
  /** An image is not there. */
  | { readonly kind: "missing"; readonly arch: Arch; readonly message: string }
  /** An image is not what it was built to be. */
  | { readonly kind: "mismatch"; readonly arch: Arch; readonly message: string }
  | {
    readonly kind: "failed";
    /** Whether asking again later may help. */
    readonly lasts: "permanent" | "transient";
    readonly reason: string;
    readonly message: string;
    readonly retryAfterMs?: number | undefined;
  };

/** What publishing runs with. */
export interface PublishImagesDeps {
  readonly repositories: Repositories;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Publishes them. Doing it again changes nothing. Rejects only with the signal's reason and for faults that are no registry's. */
export async function publishImages(request: PublicationRequest, deps: PublishImagesDeps): Promise<PublicationResult> {
  try {
    for (const image of request.images) {
      const problem = judge(image, await lookUpImage({ image: image.image, from: "own" }, deps));
      if (problem !== undefined) return problem;
    }
    return request.form === "index" ? await publishIndex(request, deps) : await publishSingle(request, deps);
  } catch (error) {
    const problem = deps.signal.aborted ? undefined : problemOf(error);
    if (problem === undefined) throw error;
    return { kind: "failed", lasts: problem.kind, reason: problem.reason, message: problem.message };
  }
}

function judge({ arch, image, buildKey }: BuiltImage, found: FoundImage): PublicationResult | undefined {
  switch (found.kind) {
    case "absent":
      return { kind: "missing", arch, message: `The image "${image}" is not there any more.` };
    case "denied":
      return { kind: "failed", lasts: "permanent", reason: "Unauthorized", message: found.message };
    case "unknown": {
      const { message, retryAfterMs } = found;
      return { kind: "failed", lasts: "transient", reason: "ServerError", message, retryAfterMs };
    }
    case "unusable":
      return { kind: "mismatch", arch, message: `The image "${image}" cannot be used: ${found.message}.` };
    // Some builders push an index of one image beside attestations: assembling takes the image out of it and checks it.
    case "index":
      return undefined;
    case "image": {
      const { os, architecture } = found.platform;
      if (os !== "linux" || architecture !== arch) {
        return { kind: "mismatch", arch, message: `The image "${image}" is for ${os}/${architecture}.` };
      }
      if (buildKey === undefined || found.labels[ImageLabel.buildKey] === buildKey) return undefined;
      const message = `The image "${image}" is of another build: its label ${ImageLabel.buildKey} differs.`;
      return { kind: "mismatch", arch, message };
    }
  }
}

async function publishIndex(
  { to, images }: PublicationRequest,
  deps: PublishImagesDeps,
): Promise<PublicationResult> {
  const result = await assembleIndex({ to, images: images.map(({ image }) => image), mode: "publish" }, {
    ...deps,
    onProgress: () => {},
  });
  if (result.kind === "failed") {
    const [problem] = result.problems;
    const transient = result.problems.some(({ kind }) => kind === "transient");
    const message = result.problems.map((one) => one.message).join(" ");
    return { kind: "failed", lasts: transient ? "transient" : "permanent", reason: problem?.reason ?? "", message };
  }
  const { digest } = result.index;
  return {
    kind: "published",
    reference: `${result.repository}@${digest}`,
    digest,
    children: result.images.map((image) => image.digest),
    isNew: result.kind === "published",
  };
}

/** The one image, copied where it is not yet, under the tag as well. */
async function publishSingle(
  { to, images }: PublicationRequest,
  deps: PublishImagesDeps,
): Promise<PublicationResult> {
  const place = deps.repositories.targetOf(to);
  const [read] = await readChildren(images.map(({ image }) => image), { ...deps, target: place });
  if (read === undefined) throw inspectionError("Misconfigured", "Cannot publish a build without an image.");
  if (read.kind === "problem") {
    const { problem: { kind: lasts, reason, message } } = read;
    return { kind: "failed", lasts, reason, message };
  }
  const target = await deps.repositories.target(place);
  await copyChildren([read], { ...deps, target, onProgress: () => {} });
  const { child: { digest, mediaType }, bytes } = read;
  const isNew = await withRetries(() => moveTag(target, place.reference, { mediaType, digest, bytes }), deps);
  return { kind: "published", reference: `${target.name}@${digest}`, digest, children: [digest], isNew };
}

async function moveTag(target: TargetRepository, tag: string, content: ManifestContent): Promise<boolean> {
  if (await target.digestOf(tag) === content.digest) return false;
  await target.putManifest(tag, content);
  return true;
}
