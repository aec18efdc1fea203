// What follows when a release fails. A pod that runs unconstrained is better than one that never runs. So at its
// deadline, each failed step is followed by a smaller one.
//
// | step | what is written                         | gets past                               |
// |------|-----------------------------------------|-----------------------------------------|
// | full | affinity, tolerations, metadata, gate   |                                         |
// | bare | gate, its label, an annotation with why | policies about affinity and tolerations |
// | gate | the gate alone                          | policies about labels and annotations   |
import type { JsonPatch } from "../../../k8s/patch.ts";
import { assertNever } from "../../../parsed.ts";
import type { PlacementDecision } from "../decision_types.ts";
import type { PodView } from "../pod/pod_view.ts";
import { bareReleasePatch, decisionPatch, ungatePatch } from "./decision_patch.ts";

const STEPS = ["full", "bare", "gate"] as const;

export type ReleaseStep = typeof STEPS[number];

export type ReleaseFailure =
  /** Another client changed the pod in between. */
  | "changed"
  /** The server rejected the change itself (400, 413, 422 with causes): it will never pass. */
  | "refused"
  /** Forbidden (403), or a conflict although the pod is unchanged: a policy, a webhook, a missing right. */
  | "denied"
  /** The server answers reads of the pod but not the write (timeouts, 5xx, 429). */
  | "unanswered"
  /** No answer: the write may have succeeded. */
  | "unreachable";

export interface FailedRelease {
  readonly step: ReleaseStep;
  readonly failure: ReleaseFailure;
  readonly isOverdue: boolean;
  readonly rereads: number;
  /** Unanswered writes of this pod, this one included; 0 for another failure. */
  readonly unanswered: number;
}

export type AfterFailure =
  | { readonly kind: "escalate"; readonly step: ReleaseStep }
  | { readonly kind: "decideAgain" }
  | { readonly kind: "wait" };

/** Rereads per reconcile of a pod that other clients keep changing. */
export const MAX_REREADS = 3;

/** The first unanswered write may be a blip. From the second one, the change is to blame. */
const UNANSWERED_WRITES = 2;

export function decideAfterFailure(failed: FailedRelease): AfterFailure {
  const { failure, isOverdue, rereads, unanswered } = failed;
  const wait: AfterFailure = { kind: "wait" };
  switch (failure) {
    case "changed":
      if (rereads < MAX_REREADS) return { kind: "decideAgain" };
      return isOverdue ? escalate(failed) : wait;
    case "refused":
      return escalate(failed);
    case "denied":
      return isOverdue ? escalate(failed) : wait;
    case "unanswered":
      return isOverdue && unanswered >= UNANSWERED_WRITES ? escalate(failed) : wait;
    case "unreachable":
      return wait;
    default:
      return assertNever(failure);
  }
}

export function stepPatch(
  pod: PodView,
  step: ReleaseStep,
  { decision, why }: { readonly decision: PlacementDecision; readonly why: string },
): JsonPatch {
  switch (step) {
    case "full":
      return decisionPatch(pod, decision);
    case "bare":
      return bareReleasePatch(pod, why);
    case "gate":
      return ungatePatch(pod, undefined);
    default:
      return assertNever(step);
  }
}

function escalate({ step }: FailedRelease): AfterFailure {
  const next = STEPS[STEPS.indexOf(step) + 1];
  return next === undefined ? { kind: "wait" } : { kind: "escalate", step: next };
}
