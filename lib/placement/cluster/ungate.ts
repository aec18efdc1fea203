// Removes Archway's gate from pods without a decision: when leaving a cluster, and for pods that no leader releases.
// A `test` pins the gate, so that only one of several replicas succeeds.
import { type KubeApi, type ListOptions, type ReadApi, readOptional } from "../../k8s/api.ts";
import { listAll } from "../../k8s/lists.ts";
import { keyOf, Resource } from "../../k8s/types.ts";
import { GateLabel, PodLabel } from "../../names.ts";
import { isGated } from "../decide/pod/constraints.ts";
import type { PodRef } from "../decide/pod/pod_refs.ts";
import { parsePod, type PodView } from "../decide/pod/pod_view.ts";
import { openWriteSlots, type RateLimiter } from "../../k8s/write_limits.ts";
import { classifyWriteFailure, isForbidden } from "../../k8s/api_error.ts";
import { errorText } from "../../log.ts";
import { ungatePatch } from "../decide/patch/decision_patch.ts";

type GateApi = ReadApi & Pick<KubeApi, "patch">;

export type UngateOutcome =
  | { readonly kind: "ungated" }
  | { readonly kind: "gone" }
  /** `shouldContinue` was false. Nothing was written. */
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly why: string };

interface UngateOptions {
  readonly signal: AbortSignal;
  /** Called directly before each write. */
  readonly shouldContinue: () => boolean;
}

/** Most writes of a pod that other clients keep changing. */
const MAX_ATTEMPTS = 3;

/** Removes the gate from a pod that was just read, and rereads it when other clients have changed it. */
async function ungate(api: GateApi, pod: PodView, { signal, shouldContinue }: UngateOptions): Promise<UngateOutcome> {
  const { namespace, name } = pod;
  let held: PodView | undefined = pod;
  let label: string | undefined = GateLabel.removed;
  for (let attempt = 1; held !== undefined;) {
    if (!shouldContinue()) return { kind: "stopped" };
    try {
      const operations = ungatePatch(held, label);
      await api.patch(Resource.pods, { namespace, name }, { body: { kind: "json", operations }, signal });
      return { kind: "ungated" };
    } catch (error) {
      const failure = classifyWriteFailure(error);
      const isRefused = failure === "refused" || isForbidden(error);
      if (failure === "gone") held = undefined;
      // The label may be the cause: try the gate alone.
      else if (isRefused && label !== undefined) label = undefined;
      else if (failure === "stale" && attempt++ < MAX_ATTEMPTS) held = await readGated(api, pod, signal);
      else throw error;
    }
  }
  return { kind: "gone" };
}

async function orFailed(work: () => Promise<UngateOutcome>): Promise<UngateOutcome> {
  try {
    return await work();
  } catch (error) {
    return { kind: "failed", why: errorText(error) };
  }
}

/** A client that can only remove the gate. */
export interface Ungater {
  /** Waits for the rate limit, reads the pod and removes the gate. Never rejects. */
  ungate(pod: PodRef, options: UngateOptions): Promise<UngateOutcome>;
}

export function openUngater({ api, limiter }: { readonly api: GateApi; readonly limiter: RateLimiter }): Ungater {
  return {
    ungate: (pod, options) =>
      orFailed(async () => {
        await limiter.wait(options.signal);
        const held = await readGated(api, pod, options.signal);
        return held === undefined ? { kind: "gone" } : await ungate(api, held, options);
      }),
  };
}

async function readGated(
  api: ReadApi,
  { namespace, name, uid }: PodRef,
  signal: AbortSignal,
): Promise<PodView | undefined> {
  const pod = parsePod(await readOptional(api, { type: Resource.pods, namespace, name, signal }));
  return pod !== undefined && pod.uid === uid && isGated(pod) && !pod.isDeleting ? pod : undefined;
}

/** The results by pod, as `namespace/name`. */
export interface UngateResults {
  /** Pods that were ungated or, in a dry run, would be. */
  readonly ungated: readonly string[];
  readonly left: readonly { readonly pod: string; readonly reason: string }[];
}

/** Parallel patches: enough to ungate a cluster fast, few enough for the API server's fair queues. */
const PARALLEL_PATCHES = 16;

/** `labelled`: by the gate's label, which is cheap; `pending`: all pending pods, since a label may be removed. */
type GatedSelection = "labelled" | "pending";

const SELECTIONS: Readonly<Record<GatedSelection, ListOptions>> = {
  labelled: { labelSelector: `${PodLabel.gate}=${GateLabel.gated}` },
  pending: { fieldSelector: "status.phase=Pending" },
};

/** Yields each pod of these selections with our gate once, page by page. Throws ApiError for an unreadable page. */
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

/** Number of pods with our gate. If any are labelled, only those are counted: a lower bound that is exact for zero. */
export async function countGatedPods(api: ReadApi, signal: AbortSignal): Promise<number> {
  for (const selection of ["labelled", "pending"] as const) {
    let count = 0;
    for await (const _ of listGatedPods(api, [selection], signal)) count++;
    if (count > 0) return count;
  }
  return 0;
}

/** Takes off our gate, and nothing else, from every pod. `dryRun` only lists. `onUngated` is called for each pod. */
export async function ungateAll(
  api: KubeApi,
  options: {
    readonly signal: AbortSignal;
    readonly dryRun?: boolean;
    readonly onUngated?: (pod: PodView) => void;
  },
): Promise<UngateResults> {
  const { signal, dryRun = false, onUngated = () => {} } = options;
  const ungated: string[] = [];
  const left: { pod: string; reason: string }[] = [];
  const writes = openWriteSlots(PARALLEL_PATCHES);
  const ungateOne = async (pod: PodView): Promise<void> => {
    const key = keyOf({ metadata: pod });
    const outcome = await orFailed(() => ungate(api, pod, { signal, shouldContinue: () => true }));
    if (outcome.kind === "failed") return void left.push({ pod: key, reason: outcome.why });
    ungated.push(key);
    onUngated(pod);
  };
  for await (const pod of listGatedPods(api, ["labelled", "pending"], signal)) {
    // Waits for the writes before listing on, because waiting pods would fill memory.
    if (dryRun) ungated.push(keyOf({ metadata: pod }));
    else await writes.start(() => ungateOne(pod));
  }
  await writes.finished();
  return { ungated, left };
}
