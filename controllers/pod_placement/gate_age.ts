// How long a pod has been held, and how long it may still be held.
import { serverNowMs } from "../../lib/k8s/api.ts";
import type { PodPlacementDeps } from "./deps.ts";
import type { GatedPodRef } from "./gated_pod.ts";
import type { PodState } from "./pod_states.ts";

/** Least time that is left for a pod when a leader first observes it (ms), also when its deadline passed without a leader. */
const FRESH_CHANCE_MS = 5_000;

type Clocks = Pick<PodPlacementDeps, "api" | "clock" | "settingsOf">;

/** What is known of a pod before it has a state. */
type Seen = Pick<PodState, "firstSeenMs">;

/**
 * How long the pod has been held: by its creation time on the API server's clock, or since this process saw it, if
 * that is longer. Our own clock may be wrong or jump; the server's offset corrects it.
 */
export function gateAgeMs({ api, clock }: Clocks, pod: GatedPodRef, { firstSeenMs }: Seen): number {
  const nowMs = serverNowMs(clock, api);
  const byCreation = pod.creationTimestampMs === undefined ? 0 : nowMs - pod.creationTimestampMs;
  return Math.max(0, byCreation, clock.monotonicMs() - firstSeenMs);
}

/** The age that counts against the longest gate age, which runs from when the API server and one replica are up. */
export function countedAgeMs(deps: Clocks, pod: GatedPodRef, seen: Seen): number {
  const { maxGateAgeMs } = deps.settingsOf(pod.namespace);
  const seenForMs = deps.clock.monotonicMs() - seen.firstSeenMs;
  return Math.min(gateAgeMs(deps, pod, seen), Math.max(0, maxGateAgeMs - FRESH_CHANCE_MS) + seenForMs);
}

/** What is left until the pod must be released; negative when that is overdue. */
export function leftMs(deps: Clocks, pod: GatedPodRef, seen: Seen): number {
  return deps.settingsOf(pod.namespace).maxGateAgeMs - countedAgeMs(deps, pod, seen);
}
