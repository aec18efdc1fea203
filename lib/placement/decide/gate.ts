// What the webhook does with a new pod: leave it alone, hold it by the gate, or place it when all of its images are known. Labels
// and records that the pod brings count only for an earlier call of this admission, and where they agree with today's decision.
import { PodAnnotation } from "../../names.ts";
import type { ImageUse, InspectedImage } from "../../oci/types.ts";
import type { TolerationPlan } from "../../vocabulary/taint.ts";
import type { PlacementConfigs, PlacementSettings } from "./config/types.ts";
import type { AdmissionVerdict, ImageJudgement, NowhereDecision, PlaceDecision } from "./decision_types.ts";
import { imagesToInspect, judgeImages, MAX_IMAGES } from "./images.ts";
import { recordOf, renderRecord } from "./pod/record.ts";
import { planUndecidedTolerations } from "./patch/tolerations.ts";
import { placeByImages } from "./place.ts";
import { planInspection } from "./plan_inspection.ts";
import { entryOf } from "../../json.ts";
import type { InspectionPlan, PlacementFacts, PlannedPod, PodView } from "./types.ts";

export interface AdmissionFacts extends PlannedPod, Pick<PlacementFacts, "liveArchitectures"> {
  readonly known: readonly InspectedImage[] | undefined;
  /** False when no leader would remove a gate. Warm admission does not need one. */
  readonly mayGate: boolean;
}

export function planAdmission(pod: PodView, configs: PlacementConfigs, settings: PlacementSettings): InspectionPlan {
  return planInspection(pod, configs, settings, pod.record === undefined ? "none" : "reinvocation");
}

/** The images that decide where a new pod may run, or else which of Archway's own taints it tolerates. */
export function imagesAtAdmission(
  pod: PodView,
  plan: InspectionPlan,
  settings: PlacementSettings,
): readonly ImageUse[] {
  if (plan.kind === "inspect") return plan.images;
  const isSkipped = entryOf(settings.runtimeClasses, pod.runtimeClassName)?.kind === "skip";
  if (settings.ownTaints.length === 0 || pod.nodeName !== "" || isSkipped || settings.audit) return [];
  const images = imagesToInspect(pod, settings);
  return images.length > MAX_IMAGES ? [] : images;
}

/** The verdict on a pod that is being created: the first that applies. Never fails. */
export function judgeAdmission(facts: AdmissionFacts): AdmissionVerdict {
  const { pod, settings, plan, mayGate } = facts;
  const judgement = judgeDecided(facts);
  const imageConfigs = judgement?.imageConfigs ?? [];
  const nodeAffinityScoring = plan.scoring;
  const pass = (reason: "AuditMode" | "GatingStopped"): AdmissionVerdict => {
    const tolerations = planUndecidedTolerations(pod, settings.ownTaints);
    return { kind: "pass", reason, tolerations, nodeAffinityScoring, imageConfigs };
  };
  if (settings.audit) return pass("AuditMode");
  if (plan.kind === "decided" && plan.decision.kind === "ignore") {
    const { reason } = plan.decision;
    const tolerations = tolerationsOfDecided(facts, judgement);
    return { kind: "ignore", reason, tolerations, nodeAffinityScoring, imageConfigs };
  }
  const decision = settings.warmAdmission ? decideWarm(facts, judgement) : undefined;
  // No node can run this pod now. Gate it all the same: the event that explains why needs the uid of a stored pod.
  const needsEvent = decision?.kind === "nowhere" || decision?.noMatchingNodes === true;
  if (decision !== undefined && !(needsEvent && mayGate)) {
    return { kind: "place", decision, repeated: isRepeated(facts, decision), nodeAffinityScoring, imageConfigs };
  }
  return mayGate ? { kind: "gate", nodeAffinityScoring, imageConfigs } : pass("GatingStopped");
}

/** What is known of the images of a pod that is decided without them; undefined where they do not matter, or are unknown. */
function judgeDecided({ pod, plan, settings, known }: AdmissionFacts): ImageJudgement | undefined {
  if (known === undefined || plan.kind !== "decided") return undefined;
  const wanted = imagesAtAdmission(pod, plan, settings);
  return wanted.length === 0 ? undefined : judgeImages(pod, settings, wanted, known);
}

function tolerationsOfDecided(
  { pod, settings }: AdmissionFacts,
  judgement: ImageJudgement | undefined,
): readonly TolerationPlan[] {
  // Where its images share no architecture, no node is better than another.
  const isFinal = judgement?.kind === "shared" && judgement.imageConfigs.length === 0;
  const isKnown = isFinal && judgement.architectures.length > 0;
  return planUndecidedTolerations(pod, settings.ownTaints, isKnown ? judgement.architectures : undefined);
}

/** The decision where it can be made without asking a registry; undefined where it cannot. */
function decideWarm(
  facts: AdmissionFacts,
  decided: ImageJudgement | undefined,
): PlaceDecision | NowhereDecision | undefined {
  const { pod, settings, plan, known } = facts;
  if (plan.kind === "decided") {
    if (plan.decision.kind !== "place") return undefined;
    return { ...plan.decision, tolerations: tolerationsOfDecided(facts, decided) };
  }
  if (known === undefined) return undefined;
  const judgement = judgeImages(pod, settings, plan.images, known);
  const isSettled = judgement.kind === "shared" && judgement.imageConfigs.length === 0;
  return isSettled ? placeByImages(judgement, plan, facts) : undefined;
}

/** Whether an earlier call of the same admission carried this decision out: its record is there, and nothing is missing. */
function isRepeated({ pod, plan }: AdmissionFacts, decision: PlaceDecision | NowhereDecision): boolean {
  const record = recordOf(decision);
  const isComplete = decision.preferences.terms.length === 0 &&
    (decision.kind === "nowhere" || decision.tolerations.length === 0);
  return isComplete && (plan.own !== undefined || plan.preferences.present) && record !== undefined &&
    entryOf(pod.annotations, PodAnnotation.decision) === renderRecord(record);
}
