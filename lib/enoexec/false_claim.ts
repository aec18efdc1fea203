// Whether a failed start says something about the image itself: that it claims an architecture which its program lacks.
import type { PodContainer } from "./container.ts";
import type { FailedImage } from "./failed_image.ts";
import { endedAtOnce } from "./suspect.ts";

/** What is known of the start. */
export interface StartFacts {
  readonly container: PodContainer;
  /** Whether it was certainly the first program of the container, so that no other process can have started it. */
  readonly isEntryPoint: boolean;
  readonly podNamespace: string;
  readonly architecture: string;
  /** What Archway's own inspection found; undefined when the image could not be inspected. */
  readonly inspected: { readonly digest: string; readonly architectures: readonly string[] } | undefined;
  /** A RuntimeClass may have its own kernel: what fails under it says nothing about the image elsewhere. */
  readonly runtimeClassName: string;
  readonly nowMs: number;
}

/**
 * The record to keep; undefined when the start says nothing about the image. The container must have ended at once, and
 * its image claim the node's architecture. Where that may have been caused by a user who created the pod or may `exec` into it (it was
 * not the first program of the container, or the pod changes what is started), the record counts in the pod's namespace
 * only: otherwise one tenant could have an image of others avoided.
 */
export function failedImageOf(facts: StartFacts): FailedImage | undefined {
  const { container, isEntryPoint, podNamespace, architecture, inspected, runtimeClassName, nowMs } = facts;
  if (inspected === undefined || runtimeClassName !== "" || !endedAtOnce(container)) return undefined;
  const { digest, architectures } = inspected;
  if (!architectures.includes(architecture)) return undefined;
  // The pod's spec does not say what has failed: its image can be changed while a container runs. The status can, of the
  // latest container.
  const isSame = container.imageId.endsWith(digest) && container.end?.id === container.ids[0];
  return {
    digest,
    architecture,
    namespace: isEntryPoint && isSame && container.isImagesOwn ? undefined : podNamespace,
    reportedBy: podNamespace,
    image: container.image,
    atMs: nowMs,
  };
}
