// Lists the pods that hold Archway's gate, and lifts it without deciding anything about them: for leaving a cluster, also
// when no Archway runs.
import type { KubeApi, ListOptions, ReadApi } from "../../k8s/api.ts";
import { listAll } from "../../k8s/lists.ts";
import { keyOf, Resource } from "../../k8s/types.ts";
import { GateLabel, PodLabel } from "../../names.ts";
import { isGated } from "../decide/patch/constraints.ts";
import { parsePod } from "../decide/pod_view.ts";
import type { PodView } from "../decide/types.ts";
import { openPendingWrites } from "../../k8s/write_pace.ts";
import { liftGate } from "./gate_lifter.ts";

/** What became of the gated pods, as `namespace/name`. */
export interface GateRelease {
  /** Pods that are free now (in a dry run: would be). */
  readonly released: readonly string[];
  /** Pods that could not be freed now, and why. */
  readonly left: readonly { readonly pod: string; readonly reason: string }[];
}

/** Patches in flight: enough to empty a cluster fast, few enough for the API server's fair queues. */
const PARALLEL_PATCHES = 16;

/** By the gate's label, which is cheap, or all that are pending, for those whose label was removed. */
export type GatedSelection = "labelled" | "pending";

const SELECTIONS: Readonly<Record<GatedSelection, ListOptions>> = {
  labelled: { labelSelector: `${PodLabel.gate}=${GateLabel.gated}` },
  pending: { fieldSelector: "status.phase=Pending" },
};

/** Every pod of these selections that holds our gate, once, page by page. Throws ApiError when a page cannot be read. */
export async function* listGatedPods(
  api: ReadApi,
  selections: readonly GatedSelection[],
  signal: AbortSignal,
): AsyncGenerator<PodView> {
  const seen = new Set<string>();
  for (const selection of selections) {
    for await (const object of listAll(api, Resource.pods, { ...SELECTIONS[selection], signal })) {
      const pod = parsePod(object);
      const key = `${keyOf(object)} ${pod?.uid ?? ""}`;
      if (pod === undefined || !isGated(pod) || seen.has(key)) continue;
      seen.add(key);
      yield pod;
    }
  }
}

/** How many pods hold our gate. Stops at the label when that already finds some: a lower bound, zero only when true. */
export async function countGatedPods(api: ReadApi, signal: AbortSignal): Promise<number> {
  for (const selection of ["labelled", "pending"] as const) {
    let count = 0;
    for await (const _ of listGatedPods(api, [selection], signal)) count++;
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
    readonly onReleased?: (pod: PodView) => void;
  },
): Promise<GateRelease> {
  const { signal, dryRun = false, onReleased = () => {} } = options;
  const released: string[] = [];
  const left: { pod: string; reason: string }[] = [];
  const writes = openPendingWrites(PARALLEL_PATCHES);
  const release = async (pod: PodView): Promise<void> => {
    const key = keyOf({ metadata: pod });
    const lift = await liftGate(api, pod, { signal, goesOn: () => true });
    if (lift.kind === "failed") return void left.push({ pod: key, reason: lift.why });
    released.push(key);
    onReleased(pod);
  };
  for await (const pod of listGatedPods(api, ["labelled", "pending"], signal)) {
    // The list waits for the writes: pods that wait would be kept, as large as their owners made them.
    if (dryRun) released.push(keyOf({ metadata: pod }));
    else await writes.start(() => release(pod));
  }
  await writes.settled();
  return { released, left };
}
