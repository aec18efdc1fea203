// Copies images into the target's repository: first their blobs, then their unchanged manifests.
import pLimit from "p-limit";
import type { Clock } from "../../clock.ts";
import { IDLE_LIMITS } from "../../oci/push/idle_guard.ts";
import { blobsOf } from "../../oci/push/manifest_blobs.ts";
import { withRetries } from "../../oci/push/retries.ts";
import type { TargetRepository } from "../../oci/push/target_repository.ts";
import { uploadBlob } from "../../oci/push/upload_blob.ts";
import { type BlobDescriptor, verifyStream } from "../../oci/push/verified_stream.ts";
import type { OpenChild } from "./read_child.ts";
import { isSameRegistry, isSameRepository } from "../../oci/endpoint.ts";

export interface ChildCopy {
  /** `in place`: its manifest and blobs were already there. */
  readonly kind: "in place" | "copied" | "to be copied";
  readonly present: number;
  readonly mounted: number;
  readonly copied: number;
  readonly foreign: number;
  /** Bytes of the blobs sent; for `to be copied`, of those that may need sending. */
  readonly bytes: number;
}

export interface CopyProgress {
  readonly image: string;
  readonly doneBytes: number;
  readonly totalBytes: number;
}

export type CopyTag = (image: string) => string | undefined;

interface CopyChildrenDeps {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: CopyProgress) => void;
  readonly tagOf?: CopyTag | undefined;
}

type BlobOutcome = "present" | "mounted" | "copied";

/** Blobs copied at a time: each takes up to 8 MiB of memory. */
const MAX_PARALLEL_COPIES = 4;

export const IN_PLACE: ChildCopy = { kind: "in place", present: 0, mounted: 0, copied: 0, foreign: 0, bytes: 0 };

/** Copies missing content. One result per image, in order. Throws PushError or RegistryError. */
export async function copyChildren(
  children: readonly OpenChild[],
  { target, ...deps }: CopyChildrenDeps & { readonly target: TargetRepository },
): Promise<readonly ChildCopy[]> {
  const copies = new ChildrenCopies(target, deps);
  // One image at a time, so that shared blobs are copied once and the first image completes first.
  const outcomes: ChildCopy[] = [];
  for (const child of children) outcomes.push(await copies.copy(child));
  return outcomes;
}

export function planCopy({ home, child: { text } }: OpenChild, target: TargetRepository): ChildCopy {
  if (isSameRepository(home, target.endpoint)) return IN_PLACE;
  const { blobs, foreign } = namedBy(text, target);
  return {
    ...IN_PLACE,
    kind: "to be copied",
    foreign: foreign.length,
    bytes: blobs.reduce((sum, { size }) => sum + size, 0),
  };
}

class ChildrenCopies {
  readonly #target: TargetRepository;
  readonly #deps: CopyChildrenDeps;
  readonly #limit = pLimit(MAX_PARALLEL_COPIES);
  readonly #ended = new AbortController();

  constructor(target: TargetRepository, deps: CopyChildrenDeps) {
    this.#target = target;
    this.#deps = { ...deps, signal: AbortSignal.any([deps.signal, this.#ended.signal]) };
  }

  async copy(one: OpenChild): Promise<ChildCopy> {
    const { child, home } = one;
    const target = this.#target;
    if (isSameRepository(home, target.endpoint)) return IN_PLACE;
    const { digest, mediaType, bytes, text } = child;
    if (await withRetries(() => target.readDigest(digest), this.#deps) === digest) return IN_PLACE;
    const { blobs, foreign } = namedBy(text, target);
    const outcomes = await this.#copyBlobs(one, blobs);
    const name = this.#deps.tagOf?.(child.image) ?? digest;
    await withRetries(() => target.putManifest(name, { mediaType, digest, bytes }), this.#deps);
    const count = (wanted: BlobOutcome): number => outcomes.filter((outcome) => outcome === wanted).length;
    return {
      kind: "copied",
      present: count("present"),
      mounted: count("mounted"),
      copied: count("copied"),
      foreign: foreign.length,
      bytes: blobs.reduce((sum, { size }, at) => sum + (outcomes[at] === "copied" ? size : 0), 0),
    };
  }

  /** Waits for all copies even after one fails, so that none continues in the background. */
  async #copyBlobs(
    { child, home, source }: OpenChild,
    blobs: readonly BlobDescriptor[],
  ): Promise<readonly BlobOutcome[]> {
    const { signal, onProgress } = this.#deps;
    const target = this.#target;
    const mountFrom = isSameRegistry(home, target.endpoint) ? home.repository : undefined;
    const totalBytes = blobs.reduce((sum, { size }) => sum + size, 0);
    let doneBytes = 0;
    const move = (bytes: number): void => {
      doneBytes += bytes;
      onProgress({ image: child.image, doneBytes: Math.min(doneBytes, totalBytes), totalBytes });
    };
    const settled = await Promise.allSettled(blobs.map((blob) =>
      this.#limit(async () => {
        try {
          const copy = { source, mountFrom, onBytes: move };
          const outcome = await withRetries(() => this.#copyBlob(blob, copy), this.#deps);
          if (outcome !== "copied") move(blob.size);
          return outcome;
        } catch (error) {
          // Report the first failure; it aborted the others.
          if (!signal.aborted) this.#ended.abort(error);
          throw error;
        }
      })
    ));
    signal.throwIfAborted();
    return settled.flatMap((one) => one.status === "fulfilled" ? [one.value] : []);
  }

  /** Keeps a present blob, mounts it from another repository, or streams it. Resent bytes count again. */
  async #copyBlob(blob: BlobDescriptor, { source, mountFrom, onBytes }: {
    readonly source: OpenChild["source"];
    readonly mountFrom: string | undefined;
    readonly onBytes: (bytes: number) => void;
  }): Promise<BlobOutcome> {
    const target = this.#target;
    const { digest } = blob;
    if (await target.hasBlob(digest)) return "present";
    const mount = mountFrom === undefined ? undefined : await target.mount(digest, mountFrom);
    if (mount?.kind === "mounted") return "mounted";
    const open = async (): Promise<ReturnType<typeof verifyStream>> =>
      verifyStream(await source.blob(digest), { blob, registry: source.endpoint.host, onBytes });
    const begun = mount?.kind === "upload" ? mount.upload : undefined;
    await uploadBlob({ blob, open }, { target, begun, limits: IDLE_LIMITS, signal: this.#deps.signal });
    return "copied";
  }
}

function namedBy(text: string, target: TargetRepository): {
  readonly blobs: readonly BlobDescriptor[];
  readonly foreign: readonly BlobDescriptor[];
} {
  const named = blobsOf(text);
  if (named.kind === "blobs") return named;
  throw target.failure("Refused", `Cannot copy an image to "${target.name}": ${named.fault.message}.`);
}
