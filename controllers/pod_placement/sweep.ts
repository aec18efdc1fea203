// The safety sweep: what the watch cannot show. Gated pods whose label was removed, and pods that were admitted without
// the webhook.
import { jitter } from "../../lib/clock.ts";
import { listAll } from "../../lib/k8s/lists.ts";
import { keyOf, Resource, splitKey } from "../../lib/k8s/types.ts";
import { readOptional } from "../../lib/k8s/api.ts";
import { errorText } from "../../lib/log.ts";
import type { UnadmittedPod } from "../../lib/placement/decide/report/unadmitted.ts";
import type { PodView } from "../../lib/placement/decide/types.ts";
import type { PodPlacementDeps } from "./deps.ts";
import { parseGatedPod } from "./gated_pod.ts";
import type { Unadmitted } from "./unadmitted.ts";

/** Between two sweeps (ms), before jitter. */
const SWEEP_EVERY_MS = 5 * 60_000;

export interface SweepOptions {
  readonly unadmitted: Pick<Unadmitted, "candidateOf" | "conclude">;
  /** Whether the watch shows this very pod. */
  readonly isWatched: (key: string, pod: PodView) => boolean;
  /** Called for each gated pod that the watch does not show. */
  readonly onUnlabelled: (key: string, pod: PodView) => void;
}

/** Sweeps now and again until the signal aborts. Never rejects. */
export async function sweepForEver(
  deps: Pick<PodPlacementDeps, "api" | "clock" | "log">,
  options: SweepOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sweep(deps, options, signal).catch((error: unknown) => {
      if (!signal.aborted) deps.log.warn("sweep for gated pods failed", { reason: errorText(error) });
    });
    await deps.clock.sleep(jitter(SWEEP_EVERY_MS), signal);
  }
}

/**
 * Lists pending pods and reduces each page before the next is read. Without a resourceVersion: for "0" the API server may
 * ignore the size of a page, and all pending pods would come in one answer.
 */
async function sweep(
  { api }: Pick<PodPlacementDeps, "api">,
  { unadmitted, isWatched, onUnlabelled }: SweepOptions,
  signal: AbortSignal,
): Promise<void> {
  const candidates: UnadmittedPod[] = [];
  for await (const object of listAll(api, Resource.pods, { fieldSelector: "status.phase=Pending", signal })) {
    const candidate = unadmitted.candidateOf(object);
    if (candidate !== undefined) candidates.push(candidate);
    const listed = parseGatedPod(object);
    const key = keyOf(object);
    if (listed === undefined || isWatched(key, listed)) continue;
    // The pages are older than the watch: a pod that was released since is not shown by the watch either.
    const now = await readOptional(api, { type: Resource.pods, ...splitKey(key), signal });
    const pod = now === undefined ? undefined : parseGatedPod(now);
    if (pod !== undefined && !isWatched(key, pod)) onUnlabelled(key, pod);
  }
  await unadmitted.conclude(candidates, signal);
}
