// Everything that a decision about a gated pod needs: the configs, its age, and what each of its images says of itself.
// Never waits: what is not there yet is begun, and the pod comes back when it is there or at its deadline.
import { renderDuration } from "../../lib/duration.ts";
import type { InspectedImage } from "../../lib/oci/types.ts";
import { needsInspection } from "../../lib/placement/decide.ts";
import type { PlacementFacts, PodView } from "../../lib/placement/types.ts";
import type { PodPlacementDeps } from "./deps.ts";
import { countedAgeMs, leftMs } from "./gate_age.ts";
import { failedFacts } from "./inspections.ts";
import { type PodState, stopInspection } from "./pod_states.ts";

/** The facts, or how long the pod can wait for them at most. */
export type Gathered =
  | { readonly kind: "facts"; readonly facts: PlacementFacts }
  | { readonly kind: "waiting"; readonly forMs: number };

/** Gathers the facts as they are now. `inspect` begins an inspection, whose end brings the pod back. */
export function gatherFacts(
  deps: PodPlacementDeps,
  pod: PodView,
  { state, inspect }: { readonly state: PodState; readonly inspect: () => void },
): Gathered {
  const settings = deps.settingsOf(pod.namespace);
  const configs = deps.configsOf(pod.namespace);
  const images = needsInspection(pod, configs, settings) ? imagesOf(deps, pod, { state, inspect }) : [];
  if ("kind" in images) return images;
  const liveArchitectures = deps.liveArchitectures();
  const facts = {
    pod,
    configs,
    settings,
    images,
    gateAgeMs: countedAgeMs(deps, pod, state),
    failedAttempts: state.failedAttempts,
    jitter: deps.random(),
    ...(liveArchitectures === undefined ? {} : { liveArchitectures }),
  };
  return { kind: "facts", facts };
}

function imagesOf(
  deps: PodPlacementDeps,
  pod: PodView,
  { state, inspect }: { readonly state: PodState; readonly inspect: () => void },
): readonly InspectedImage[] | Extract<Gathered, { kind: "waiting" }> {
  if (state.inspection.kind === "settled") return state.inspection.images;
  const forMs = leftMs(deps, pod, state);
  if (forMs <= 0) {
    const { maxGateAgeMs } = deps.settingsOf(pod.namespace);
    stopInspection(state);
    return failedFacts(deps, pod, `no answer within the longest gate age of ${renderDuration(maxGateAgeMs)}`);
  }
  const pauseMs = state.notBeforeMs - deps.clock.monotonicMs();
  if (pauseMs > 0) return { kind: "waiting", forMs: Math.min(pauseMs, forMs) };
  if (state.inspection.kind === "none") inspect();
  return { kind: "waiting", forMs };
}
