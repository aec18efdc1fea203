// Everything that a decision about a gated pod needs: the configs, its age, and the inspection of each of its images.
// Never waits: what is not there yet is begun, and the pod comes back when it is there or at its deadline.
import { renderDuration } from "../../lib/duration.ts";
import type { ImageUse } from "../../lib/oci/types.ts";
import { planInspection } from "../../lib/placement/plan_inspection.ts";
import type { Evidence, InspectionPlan, PlacementFacts, PodView } from "../../lib/placement/types.ts";
import type { PodPlacementDeps } from "./deps.ts";
import { countedAgeMs, leftMs } from "./gate_age.ts";
import { judgeUnanswered } from "./inspections.ts";
import { type PodState, stopInspection } from "./pod_states.ts";

/** The facts, or how long the pod can wait for them at most. */
export type Gathered =
  | { readonly kind: "facts"; readonly facts: PlacementFacts }
  | { readonly kind: "waiting"; readonly forMs: number };

/** Gathers the facts as they are now. `inspect` begins an inspection, whose end brings the pod back. */
export function gatherFacts(
  deps: PodPlacementDeps,
  pod: PodView,
  { state, inspect }: { readonly state: PodState; readonly inspect: (images: readonly ImageUse[]) => void },
): Gathered {
  const settings = deps.settingsOf(pod.namespace);
  const plan = planInspection(pod, { configs: deps.configsOf(pod.namespace), settings });
  // Nothing would end it when the decision cannot be written, and it takes places from other pods.
  if (plan.kind === "decided") stopInspection(state);
  const evidence = plan.kind === "decided" ? plan : judgedOrWaiting(deps, pod, { plan, state, inspect });
  if (evidence.kind === "waiting") return evidence;
  const facts = {
    pod,
    settings,
    evidence,
    gateAgeMs: countedAgeMs(deps, pod, state),
    failedAttempts: state.failedAttempts,
    permanentFailures: state.permanentFailures,
    jitter: deps.random(),
    liveArchitectures: deps.liveArchitectures(),
  };
  return { kind: "facts", facts };
}

function judgedOrWaiting(
  deps: PodPlacementDeps,
  pod: PodView,
  { plan, state, inspect }: {
    readonly plan: Extract<InspectionPlan, { kind: "inspect" }>;
    readonly state: PodState;
    readonly inspect: (images: readonly ImageUse[]) => void;
  },
): Evidence | Extract<Gathered, { kind: "waiting" }> {
  if (state.inspection.kind === "settled") return { kind: "judged", plan, judgement: state.inspection.judgement };
  const forMs = leftMs(deps, pod, state);
  if (forMs <= 0) {
    const { maxGateAgeMs } = deps.settingsOf(pod.namespace);
    stopInspection(state);
    const message = `no answer within the longest gate age of ${renderDuration(maxGateAgeMs)}`;
    return { kind: "judged", plan, judgement: judgeUnanswered(deps, pod, { wanted: plan.images, message }) };
  }
  const pauseMs = state.notBeforeMs - deps.clock.monotonicMs();
  if (pauseMs > 0) return { kind: "waiting", forMs: Math.min(pauseMs, forMs) };
  if (state.inspection.kind !== "running") inspect(plan.images);
  return { kind: "waiting", forMs };
}
