// Takes Archway's gate off pods without deciding anything: for leaving a cluster, and for pods that no leader releases.
// A `test` pins the gate, so that of several replicas one succeeds.
import { type KubeApi, type ListOptions, type ReadApi, readOptional } from "../../k8s/api.ts";
import { listAll } from "../../k8s/lists.ts";
import { keyOf, Resource } from "../../k8s/types.ts";
import { GateLabel, PodLabel } from "../../names.ts";
import { isGated } from "../decide/pod/constraints.ts";
import { parsePod } from "../decide/pod/pod_view.ts";
import type { PodView } from "../decide/types.ts";
import { openPendingWrites, type RateLimiter } from "../../k8s/rate_limiter.ts";
import { classifyWriteFailure, isForbidden } from "../../k8s/errors.ts";
import { errorText } from "../../log.ts";
import { gatePatch } from "../decide/patch/release_patch.ts";

type GateApi = ReadApi & Pick<KubeApi, "patch">;

export type PodRef = Pick<PodView, "namespace" | "name" | "uid">;

export type GateLift =
  | { readonly kind: "lifted" }
  | { readonly kind: "gone" }
  /** It was no longer to be lifted. Nothing was written. */
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly why: string };

interface LiftOptions {
  readonly signal: AbortSignal;
  /** Called directly before each write. */
  readonly shouldContinue: () => boolean;
}

/** Writes of a pod that others change at the same time. */
const MAX_ATTEMPTS = 3;

/** Takes the gate off a pod as it was read a moment ago, and reads it again when others have changed it. */
async function lift(api: GateApi, pod: PodView, { signal, shouldContinue }: LiftOptions): Promise<GateLift> {
  const { namespace, name } = pod;
  let held: PodView | undefined = pod;
  let label: string | undefined = GateLabel.removed;
  for (let attempt = 1; held !== undefined;) {
    if (!shouldContinue()) return { kind: "stopped" };
    try {
      const operations = gatePatch(held, label);
      await api.patch(Resource.pods, { namespace, name }, { body: { kind: "json", operations }, signal });
      return { kind: "lifted" };
    } catch (error) {
      const failure = classifyWriteFailure(error);
      const isRefused = failure === "refused" || isForbidden(error);
      if (failure === "gone") held = undefined;
      // Something refuses the change of labels: the gate alone may pass.
      else if (isRefused && label !== undefined) label = undefined;
      else if (failure === "stale" && attempt++ < MAX_ATTEMPTS) held = await readGated(api, pod, signal);
      else throw error;
    }
  }
  return { kind: "gone" };
}

async function orFailed(work: () => Promise<GateLift>): Promise<GateLift> {
  try {
    return await work();
  } catch (error) {
    return { kind: "failed", why: errorText(error) };
  }
}

/** A client that can only take the gate off. */
export interface GateLifter {
  /** Reads the pod in its turn, and takes the gate off. Never rejects. */
  lift(pod: PodRef, options: LiftOptions): Promise<GateLift>;
}

export function openGateLifter({ api, limiter }: { readonly api: GateApi; readonly limiter: RateLimiter }): GateLifter {
  return {
    lift: (pod, options) =>
      orFailed(async () => {
        await limiter.wait(options.signal);
        const held = await readGated(api, pod, options.signal);
        return held === undefined ? { kind: "gone" } : await lift(api, held, options);
      }),
  };
}

async function readGated(
  api: ReadApi,
  { namespace, name, uid }: PodRef,
  signal: AbortSignal,
): Promise<PodView | undefined> {
  const object = await readOptional(api, { type: Resource.pods, namespace, name, signal });
  const pod = object === undefined ? undefined : parsePod(object);
  return pod !== undefined && pod.uid === uid && isGated(pod) && !pod.isDeleting ? pod : undefined;
}

/** What became of the gated pods, as `namespace/name`. */
export interface LiftedGates {
  /** Pods that are free now (in a dry run: would be). */
  readonly released: readonly string[];
  readonly left: readonly { readonly pod: string; readonly reason: string }[];
}

/** Patches in flight: enough to empty a cluster fast, few enough for the API server's fair queues. */
const PARALLEL_PATCHES = 16;

/** By the gate's label, which is cheap, or all that are pending, for those whose label was removed. */
type GatedSelection = "labelled" | "pending";

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

/** How many pods hold our gate. Where labelled ones do, only these are counted: a lower bound, zero only when true. */
export async function countGatedPods(api: ReadApi, signal: AbortSignal): Promise<number> {
  for (const selection of ["labelled", "pending"] as const) {
    let count = 0;
    for await (const _ of listGatedPods(api, [selection], signal)) count++;
    if (count > 0) return count;
  }
  return 0;
}

/** Lifts our gate, and nothing else, from every pod. `dryRun` only lists. `onReleased` is called for each pod. */
export async function liftAllGates(
  api: KubeApi,
  options: {
    readonly signal: AbortSignal;
    readonly dryRun?: boolean;
    readonly onReleased?: (pod: PodView) => void;
  },
): Promise<LiftedGates> {
  const { signal, dryRun = false, onReleased = () => {} } = options;
  const released: string[] = [];
  const left: { pod: string; reason: string }[] = [];
  const writes = openPendingWrites(PARALLEL_PATCHES);
  const release = async (pod: PodView): Promise<void> => {
    const key = keyOf({ metadata: pod });
    const lifted = await orFailed(() => lift(api, pod, { signal, shouldContinue: () => true }));
    if (lifted.kind === "failed") return void left.push({ pod: key, reason: lifted.why });
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
