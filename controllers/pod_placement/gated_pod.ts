// A gated pod as the leader keeps it: whole where it is small, by its name where it is large. That one is read again whenever it
// is its turn.
import { createHash } from "node:crypto";
import type { ReadApi } from "../../lib/k8s/api.ts";
import { readOptional } from "../../lib/k8s/read_optional.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { isGated } from "../../lib/placement/patch/constraints.ts";
import { parsePod, unlessLarge } from "../../lib/placement/pod_view.ts";
import type { PodView } from "../../lib/placement/types.ts";

/** What queue, clocks and events need of any gated pod. */
export type GatedPodRef = Pick<PodView, "namespace" | "name" | "uid" | "creationTimestampMs">;

/** A gated pod. */
export interface GatedPod extends GatedPodRef {
  /** {@link nameOfImages} */
  readonly images: string;
  /** Undefined for a large one: read it. */
  readonly whole: PodView | undefined;
}

/** A pod that waits for us; undefined for any other, and for one that is being deleted. */
export function parseGatedPod(object: KubeObject): PodView | undefined {
  const pod = parsePod(object);
  return pod !== undefined && isGated(pod) && !pod.deleting ? pod : undefined;
}

/** The pod as it is kept. */
export function keptPod(pod: PodView): GatedPod {
  const { namespace, name, uid, creationTimestampMs } = pod;
  return { namespace, name, uid, creationTimestampMs, images: nameOfImages(pod), whole: unlessLarge(pod) };
}

/** Other images, another name; as long for many images as for one. */
export function nameOfImages({ containers, imageVolumes }: PodView): string {
  const images = [containers, imageVolumes].flat().map(({ image }) => image);
  return createHash("sha256").update(JSON.stringify(images)).digest("base64");
}

/** {@link parseGatedPod} as it is kept. */
export function parseKeptPod(object: KubeObject): GatedPod | undefined {
  const pod = parseGatedPod(object);
  return pod === undefined ? undefined : keptPod(pod);
}

/** What became of a large pod's turn. */
export type LargePodUse<T> =
  | { readonly kind: "used"; readonly result: T }
  /** Others are in memory: come back. */
  | { readonly kind: "busy" }
  /** It is gone, or gated no more. */
  | { readonly kind: "gone" };

/** Large pods that are in memory at a time: 1.5 MB of JSON take five times that. */
const AT_A_TIME = 2;

/** Reads large pods in their turn. */
export class LargePods {
  #used = 0;

  /** Reads the pod and calls `use` with it. Throws ApiError, and what `use` throws. */
  async use<T>(
    { namespace, name, uid }: GatedPodRef,
    { api, signal }: { readonly api: ReadApi; readonly signal: AbortSignal },
    use: (pod: PodView) => Promise<T>,
  ): Promise<LargePodUse<T>> {
    if (this.#used >= AT_A_TIME) return { kind: "busy" };
    this.#used++;
    try {
      const object = await readOptional(api, { type: Resource.pods, namespace, name, signal });
      const pod = object === undefined ? undefined : parseGatedPod(object);
      return pod?.uid === uid ? { kind: "used", result: await use(pod) } : { kind: "gone" };
    } finally {
      this.#used--;
    }
  }
}
