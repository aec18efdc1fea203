// What follows when the API server does not take a release: a pod that runs unconstrained beats one that never runs, so at
// its deadline each way to release it that fails is followed by one that asks for less.
//
// | step          | what is written                          | gets past                                        |
// |---------------|------------------------------------------|--------------------------------------------------|
// | full          | affinity, tolerations, metadata, gate    |                                                  |
// | unannotated   | the same without annotations             | annotations that are full (256 KiB)              |
// | bare          | gate, its label, an annotation with why  | policies about affinity, tolerations, labels     |
// | gate-and-label| gate and its label                       | policies about annotations                       |
// | gate          | the gate alone                           | policies about labels                            |
import type { JsonPatch } from "../../../k8s/patch.ts";
import { GateLabel } from "../../../names.ts";
import { unreachable } from "../../../parsed.ts";
import type { PlacementDecision } from "../decision_types.ts";
import type { PodView } from "../types.ts";
import { bareReleasePatch, gatePatch, releasePatch } from "./release_patch.ts";

export type ReleaseStep = "full" | "unannotated" | "bare" | "gate-and-label" | "gate";

export type ReleaseFailure =
  /** Another client changed the pod in between. */
  | "changed"
  /** The server found fault with the change itself (400, 413, 422 with causes): the same change will never pass. */
  | "refused"
  /** The server forbids it (403), or says that the pod has changed, which it has not: a policy, a webhook, a right. */
  | "denied"
  /** The server reads the pod but does not answer the write (timeouts, 5xx, 429). */
  | "unanswered"
  /** No answer: it is unknown whether the write was carried out. */
  | "unreachable";

export interface FailedRelease {
  readonly step: ReleaseStep;
  readonly failure: ReleaseFailure;
  readonly isAboutAnnotations: boolean;
  readonly isOverdue: boolean;
  readonly rereads: number;
  /** Unanswered writes of this pod, this one included. */
  readonly unanswered: number;
}

export type AfterFailure =
  | { readonly kind: "escalate"; readonly step: ReleaseStep }
  | { readonly kind: "decideAgain" }
  | { readonly kind: "wait" };

/** How often a pod that others keep changing is read again in one reconcile. */
export const MAX_REREADS = 3;

/** An unanswered write may be a blip of the server: only the second one of a pod counts against the change. */
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
      return unreachable(failure);
  }
}

export function stepPatch(
  pod: PodView,
  step: ReleaseStep,
  { decision, why }: { readonly decision: PlacementDecision; readonly why: string },
): JsonPatch {
  switch (step) {
    case "full":
      return releasePatch(pod, decision);
    case "unannotated":
      return releasePatch(pod, decision).filter(({ path }) => !path.startsWith("/metadata/annotations"));
    case "bare":
      return bareReleasePatch(pod, why);
    case "gate-and-label":
      return gatePatch(pod, GateLabel.removed);
    case "gate":
      return gatePatch(pod, undefined);
    default:
      return unreachable(step);
  }
}

const STEPS: readonly ReleaseStep[] = ["full", "unannotated", "bare", "gate-and-label", "gate"];

function escalate({ step, isAboutAnnotations }: FailedRelease): AfterFailure {
  const later = STEPS.slice(STEPS.indexOf(step) + 1);
  const next = later.find((one) => one !== "unannotated" || isAboutAnnotations);
  return next === undefined ? { kind: "wait" } : { kind: "escalate", step: next };
}
