// Lists the pods that hold Archway's gate, and lifts it without deciding anything about them: for leaving a cluster, also
// when no Archway runs.
import pLimit from "p-limit";
import { errorText } from "../log.ts";
import { GateLabel, SCHEDULING_GATE } from "../names.ts";
import type { KubeApi, ListOptions, ReadApi } from "../k8s/api.ts";
import { classifyWriteFailure } from "../k8s/errors.ts";
import { gateIndexOf, renderGateRelease } from "../operand/gate_release.ts";
import { listAll } from "../k8s/lists.ts";
import { readOptional } from "../k8s/read_optional.ts";
import { keyOf, type KubeObject, Resource } from "../k8s/types.ts";

/** What became of the gated pods, as `namespace/name`. */
export interface GateRelease {
  /** Pods that are free now (in a dry run: would be). */
  readonly released: readonly string[];
  /** Pods that could not be freed now, and why. */
  readonly left: readonly { readonly pod: string; readonly reason: string }[];
}

/** Patches in flight: enough to empty a cluster fast, few enough for the API server's fair queues. */
const PARALLEL_PATCHES = 16;
const PATCH_ATTEMPTS = 3;

/** By the gate's label first, which is cheap; then every pending pod, for those whose label was removed. */
const SELECTIONS: readonly ListOptions[] = [
  { labelSelector: `${SCHEDULING_GATE}=${GateLabel.gated}` },
  { fieldSelector: "status.phase=Pending" },
];

/** Every pod that holds our gate, once, page by page. Throws ApiError when a page cannot be read. */
async function* listGatedPods(api: ReadApi, signal: AbortSignal): AsyncGenerator<KubeObject> {
  const seen = new Set<string>();
  for (const selection of SELECTIONS) {
    for await (const pod of listAll(api, Resource.pods, { ...selection, signal })) {
      const key = `${keyOf(pod)} ${pod.metadata.uid ?? ""}`;
      if (gateIndexOf(pod) < 0 || seen.has(key)) continue;
      seen.add(key);
      yield pod;
    }
  }
}

/** How many pods hold our gate. Stops at the label when that already finds some: a lower bound, zero only when true. */
export async function countGatedPods(api: ReadApi, signal: AbortSignal): Promise<number> {
  for (const selection of SELECTIONS) {
    let count = 0;
    for await (const pod of listAll(api, Resource.pods, { ...selection, signal })) {
      if (gateIndexOf(pod) >= 0) count++;
    }
    if (count > 0) return count;
  }
  return 0;
}

/** Lifts our gate, and nothing else, from every pod. `dryRun` only lists. `onReleased` is called for each pod. */
export async function releaseGatedPods(
  api: KubeApi,
  options: {
    readonly signal: AbortSignal;
    readonly dryRun?: boolean;
    readonly onReleased?: (pod: KubeObject) => void;
  },
): Promise<GateRelease> {
  const { signal, dryRun = false, onReleased = () => {} } = options;
  const released: string[] = [];
  const left: { pod: string; reason: string }[] = [];
  const limit = pLimit(PARALLEL_PATCHES);
  const patches: Promise<void>[] = [];
  for await (const pod of listGatedPods(api, signal)) {
    if (dryRun) released.push(keyOf(pod));
    else {
      patches.push(limit(async () => {
        const problem = await releasePod(api, pod, signal);
        if (problem !== undefined) return void left.push({ pod: keyOf(pod), reason: problem });
        released.push(keyOf(pod));
        onReleased(pod);
      }));
    }
  }
  await Promise.all(patches);
  return { released, left };
}

async function releasePod(api: KubeApi, pod: KubeObject, signal: AbortSignal): Promise<string | undefined> {
  const { namespace, name } = pod.metadata;
  const target = { name, ...(namespace === undefined ? {} : { namespace }) };
  let current = pod;
  for (let attempt = 1;; attempt++) {
    const operations = renderGateRelease(current);
    if (operations === undefined) return undefined;
    try {
      await api.patch(Resource.pods, target, { body: { kind: "json", operations }, signal });
      return undefined;
    } catch (error) {
      const failure = classifyWriteFailure(error);
      if (failure === "gone") return undefined;
      if (failure !== "stale" || attempt === PATCH_ATTEMPTS) return errorText(error);
    }
    const fresh = await readOptional(api, { type: Resource.pods, ...target, signal });
    if (fresh === undefined) return undefined;
    current = fresh;
  }
}
