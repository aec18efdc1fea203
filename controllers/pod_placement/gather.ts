// Gathers the facts about a gated pod. Never waits: it starts a missing inspection, whose end requeues the pod, and
// stops an inspection that is no longer wanted.
import { renderDuration } from "../../lib/vocabulary/duration.ts";
import type { ImageUse } from "../../lib/oci/inspection.ts";
import { planInspection } from "../../lib/placement/decide/plan_inspection.ts";
import type { Evidence, PlacementFacts, PlannedPod } from "../../lib/placement/decide/facts.ts";
import type { PodView } from "../../lib/placement/decide/pod/pod_view.ts";
import type { PodPlacementDeps } from "./deps.ts";
import { judgeUnanswered } from "./inspections.ts";
import type { PodState } from "./pod_states.ts";

type Gathered =
  | { readonly kind: "facts"; readonly facts: PlacementFacts }
  | { readonly kind: "waiting"; readonly forMs: number };

/** Gathers the current facts. `inspect` answers from memory, or starts an inspection whose end requeues the pod. */
export function gatherFacts(
  deps: PodPlacementDeps,
  pod: PodView,
  { state, inspect }: { readonly state: PodState; readonly inspect: (images: readonly ImageUse[]) => void },
): Gathered {
  const settings = deps.settingsOf(pod.namespace);
  const plan = planInspection(pod, deps.configsOf(pod.namespace), settings);
  const forMs = state.leftMs();
  if (plan.kind === "inspect" && forMs > 0 && !isJudged(state)) {
    const pauseMs = state.retries.notBeforeMs - deps.clock.monotonicMs();
    if (pauseMs > 0) return { kind: "waiting", forMs: Math.min(pauseMs, forMs) };
    if (state.stage.kind !== "running") inspect(plan.images);
    if (!isJudged(state)) return { kind: "waiting", forMs };
  }
  // A running inspection would hold permits that other pods need, even if the decision cannot be written.
  if (plan.kind === "decided" || !isJudged(state)) state.stopInspection();
  const facts = {
    pod,
    settings,
    evidence: evidenceByNow({ pod, settings, plan }, state),
    gateAgeMs: state.countedAgeMs(),
    failedAttempts: state.retries.failedAttempts,
    permanentFailures: state.retries.permanentFailures,
    jitter: deps.random(),
    liveArchitectures: deps.liveArchitectures(),
  };
  return { kind: "facts", facts };
}

function isJudged({ stage }: PodState): boolean {
  return stage.kind === "judged";
}

/** Images without an answer by now count as failed. */
function evidenceByNow({ pod, settings, plan }: PlannedPod, state: PodState): Evidence {
  if (plan.kind === "inspect" && state.stage.kind === "judged") {
    return { kind: "judged", plan, judgement: state.stage.judgement };
  }
  if (plan.kind === "decided") return plan;
  const message = `no answer within --max-gate-age (${renderDuration(settings.maxGateAgeMs)})`;
  const { lastFailure } = state.retries;
  const before = lastFailure === undefined ? "" : `; before: ${lastFailure}`;
  const unanswered = { wanted: plan.images, message: message + before };
  return { kind: "judged", plan, judgement: judgeUnanswered(pod, settings, unanswered) };
}
