// Gated pods of which only the name is kept: read when it is their turn, so many at a time as fit into the memory for them.
import { type ReadApi, readOptional } from "../../lib/k8s/api.ts";
import { Resource } from "../../lib/k8s/types.ts";
import type { PodView } from "../../lib/placement/decide/types.ts";
import { type GatedPod, parseGatedPod } from "./gated_pod.ts";

/** What became of the turn of a pod that is not kept. */
export type ReadPodUse<T> =
  | { readonly kind: "used"; readonly result: T }
  /** Others are in memory: come back. */
  | { readonly kind: "busy" }
  /** It is gone, or gated no more. */
  | { readonly kind: "gone" };

/** Bytes of pods that are in memory at a time, beside those that are kept: as many ordinary ones as there are workers. */
const MAX_READ_BYTES = 8 * 1024 * 1024;

export class ReadPods {
  #usedBytes = 0;

  /** Reads the pod and calls `use` with it. Throws ApiError, and what `use` throws. */
  async use<T>(
    { namespace, name, uid, bytes }: GatedPod,
    { api, signal }: { readonly api: ReadApi; readonly signal: AbortSignal },
    use: (pod: PodView) => Promise<T>,
  ): Promise<ReadPodUse<T>> {
    // One alone may have more.
    if (this.#usedBytes > 0 && this.#usedBytes + bytes > MAX_READ_BYTES) return { kind: "busy" };
    this.#usedBytes += bytes;
    try {
      const object = await readOptional(api, { type: Resource.pods, namespace, name, signal });
      const pod = object === undefined ? undefined : parseGatedPod(object);
      return pod?.uid === uid ? { kind: "used", result: await use(pod) } : { kind: "gone" };
    } finally {
      this.#usedBytes -= bytes;
    }
  }
}
