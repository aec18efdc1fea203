// What this process remembers of a gated pod between two looks at it. Gone with the pod; a restart starts anew, and the
// pod's own age keeps its deadline.
import type { PodView } from "../../lib/placement/types.ts";

/** The memory of one pod, by its uid. */
export interface RetryState {
  /** When this process first saw the pod gated (monotonic ms). */
  readonly firstSeenMs: number;
  /** Inspection rounds that failed, for the images as they are now. */
  failedAttempts: number;
  /** The next round is not due before (monotonic ms). */
  notBeforeMs: number;
  /** The images that the counters above are about. */
  images: string;
  /** Our gate is off by our own patch; the watch has yet to show it. */
  released: boolean;
}

/** The case files of all pods. */
export class RetryStates {
  readonly #files = new Map<string, RetryState>();

  /** The file of a pod, begun if there is none. Other images than before start the counters anew. */
  open(pod: PodView, nowMs: number): { readonly file: RetryState; readonly isNew: boolean } {
    const images = pod.containers.map(({ image }) => image).join(" ");
    const known = this.#files.get(pod.uid);
    if (known === undefined) {
      const file = { firstSeenMs: nowMs, failedAttempts: 0, notBeforeMs: 0, images, released: false };
      this.#files.set(pod.uid, file);
      return { file, isNew: true };
    }
    if (known.images !== images) Object.assign(known, { images, failedAttempts: 0, notBeforeMs: 0 });
    return { file: known, isNew: false };
  }

  /** Forgets a pod that is gone or no longer gated. */
  close(uid: string): void {
    this.#files.delete(uid);
  }
}
