// A gated pod in the leader's memory: whole or, for want of room, only its name. Then it is read in its turn.
import { createHash } from "node:crypto";
import { RETENTION } from "../../lib/k8s/retention.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { isGated } from "../../lib/placement/decide/pod/constraints.ts";
import type { PodRef } from "../../lib/placement/decide/pod/pod_refs.ts";
import { bytesOfView, KEPT_VIEW_BYTES, parsePod, type PodView } from "../../lib/placement/decide/pod/pod_view.ts";
import { type ReadApi, readOptional } from "../../lib/k8s/api.ts";

export type GatedPodRef = PodRef & Pick<PodView, "createdMs">;

export interface GatedPod extends GatedPodRef {
  readonly imagesHash: string;
  readonly bytes: number;
  /** Undefined when only the name is kept and the pod must be read. */
  readonly whole: PodView | undefined;
}

/** A pod with our gate; undefined for other pods, and for pods that are being deleted. */
export function parseGatedView(object: KubeObject | undefined): PodView | undefined {
  const pod = parsePod(object);
  return pod !== undefined && isGated(pod) && !pod.isDeleting ? pod : undefined;
}

export const GATED_POD_RETENTION = {
  ...RETENTION.gatedPods,
  weightOf: ({ bytes, whole }: GatedPod): number => whole === undefined ? 0 : bytes,
  reduce: (pod: GatedPod): GatedPod => ({ ...pod, whole: undefined }),
};

export function gatedPodOf(pod: PodView): GatedPod {
  const { namespace, name, uid, createdMs } = pod;
  const bytes = bytesOfView(pod);
  const whole = bytes > KEPT_VIEW_BYTES ? undefined : pod;
  return { namespace, name, uid, createdMs, imagesHash: hashOfImages(pod), bytes, whole };
}

/** A hash of fixed length, which changes with the pod's images. */
export function hashOfImages({ containers, imageVolumes }: PodView): string {
  const images = [containers, imageVolumes].flat().map(({ image }) => image);
  return createHash("sha256").update(JSON.stringify(images)).digest("base64");
}

export function parseGatedPod(object: KubeObject): GatedPod | undefined {
  const pod = parseGatedView(object);
  return pod === undefined ? undefined : gatedPodOf(pod);
}

/** The result of reading a pod that is not kept. */
type PodReading<T> =
  | { readonly kind: "used"; readonly result: T }
  /** Other pods fill the memory: retry later. */
  | { readonly kind: "busy" }
  | { readonly kind: "gone" };

/** Most bytes of pods that are being read, besides kept pods: room for an ordinary pod of each worker. */
const MAX_READ_BYTES = 8 * 1024 * 1024;

export class PodReader {
  #usedBytes = 0;

  /** Reads the pod and calls `use` with it. Throws ApiError, and what `use` throws. */
  async use<T>(
    { namespace, name, uid, bytes }: GatedPod,
    { api, signal }: { readonly api: ReadApi; readonly signal: AbortSignal },
    use: (pod: PodView) => Promise<T>,
  ): Promise<PodReading<T>> {
    // A single pod may exceed the limit.
    if (this.#usedBytes > 0 && this.#usedBytes + bytes > MAX_READ_BYTES) return { kind: "busy" };
    this.#usedBytes += bytes;
    try {
      const pod = parseGatedView(await readOptional(api, { type: Resource.pods, namespace, name, signal }));
      return pod?.uid === uid ? { kind: "used", result: await use(pod) } : { kind: "gone" };
    } finally {
      this.#usedBytes -= bytes;
    }
  }
}
