// What the webhook does with a new pod: leave it alone, hold it by the gate, or place it when all of its images are
// known. Labels and a record that a new pod already has count only as the work of an earlier call of this admission,
// and only where they agree with the present decision.
import { PodAnnotation } from "../../names.ts";
import type { ImageUse, InspectedImage } from "../../oci/inspection.ts";
import type { AddedToleration } from "../../vocabulary/taint.ts";
import type { PlacementSettings } from "./config/settings.ts";
import type { PlacementConfigs } from "./config/config.ts";
import type { Admission, AdmissionVerdict, ImageJudgement, NowhereDecision, PlaceDecision } from "./decision_types.ts";
import { judgeImages } from "./judge_images.ts";
import { imagesOfDecided } from "./images_to_inspect.ts";
import { decisionRecordOf, renderRecord } from "./pod/record.ts";
import { planUndecidedTolerations } from "./patch/tolerations.ts";
import { placeByImages } from "./place.ts";
import { planInspection } from "./plan_inspection.ts";
import { entryOf } from "../../json.ts";
import type { PlacementFacts, PlannedPod } from "./facts.ts";
import type { PodView } from "./pod/pod_view.ts";

type Reason = Extract<Admission, { readonly reason: string }>["reason"];

/** Reasons for which a pod's architecture pins are not reported. */
const NOT_COMPARED: readonly Reason[] = ["OperatorNamespace", "KubeNamespace", "NodeNameSet", "AuditMode"];

/** What is decided about a new pod, or the template of a queued Job, before memory is asked about its images. */
export interface PlannedAdmission extends PlannedPod {
  readonly subject: "pod" | "job";
  /** Images that decide where the pod may run; if that is decided, which of Archway's own taints it tolerates. */
  readonly images: readonly ImageUse[];
  /** Whether results in memory may be used for these images. */
  readonly mayUseMemory: boolean;
}

export interface AdmissionFacts extends PlannedAdmission, Pick<PlacementFacts, "liveArchitectures"> {
  /** Undefined where any image is unknown. */
  readonly known: { readonly images: readonly InspectedImage[]; readonly isAging: boolean } | undefined;
  /** False when no leader would remove a gate. Warm admission does not need one. */
  readonly mayGate: boolean;
}

/** A Job's template gets no tolerations, so its images count only if they decide where its pods may run. */
export function planAdmission(
  pod: PodView,
  configs: PlacementConfigs,
  settings: PlacementSettings,
  subject: PlannedAdmission["subject"] = "pod",
): PlannedAdmission {
  const plan = planInspection(pod, configs, settings, pod.record === undefined ? "none" : "reinvocation");
  const isDecided = plan.kind === "decided";
  const images = !isDecided ? plan.images : subject === "job" ? [] : imagesForTolerations(pod, settings);
  const mayUseMemory = images.length > 0 && (settings.warmAdmission || isDecided || subject === "job");
  return { subject, pod, settings, plan, images, mayUseMemory };
}

function imagesForTolerations(pod: PodView, settings: PlacementSettings): readonly ImageUse[] {
  const isTainted = settings.ownTaints.length > 0 && pod.nodeName === "" && !settings.audit;
  return isTainted ? imagesOfDecided(pod, settings) : [];
}

/** The verdict on a pod that is being created, or on the template of a Job. Never fails. */
export function judgeAdmission(facts: AdmissionFacts): AdmissionVerdict {
  const { subject, pod, plan, settings, images, known } = facts;
  const isKnown = known !== undefined && images.length > 0;
  const judgement = isKnown ? judgeImages(pod, settings, images, known.images) : undefined;
  const possibleBundles = plan.kind === "decided" ? judgement?.possibleBundles ?? [] : [];
  const admission = decideAdmission(facts, judgement);
  return {
    ...admission,
    isScored: plan.isScored,
    prefetch: isWorthPrefetching(facts, admission, possibleBundles) ? images : [],
    possibleBundles,
    isCompared: subject === "pod" && !("reason" in admission && NOT_COMPARED.includes(admission.reason)),
  };
}

/** Decides by the first condition that holds. */
function decideAdmission(facts: AdmissionFacts, judgement: ImageJudgement | undefined): Admission {
  const { settings, plan } = facts;
  const mayGate = facts.mayGate && facts.subject === "pod";
  if (settings.audit) return pass(facts, "AuditMode");
  if (plan.kind === "decided" && plan.decision.kind === "ignore") {
    return { kind: "ignore", reason: plan.decision.reason, tolerations: tolerationsOfDecided(facts, judgement) };
  }
  const decision = settings.warmAdmission ? decideWarm(facts, judgement) : undefined;
  // No node can run this pod now. Gate it all the same: the event that explains why needs the uid of a stored pod.
  const needsEvent = decision?.kind === "nowhere" || decision?.isOutOfReach === true;
  if (decision !== undefined && !(needsEvent && mayGate)) {
    return { kind: "place", decision, isRepeated: isRepeated(facts, decision) };
  }
  return mayGate ? { kind: "gate" } : pass(facts, "GatingStopped");
}

function pass({ pod, settings }: AdmissionFacts, reason: "AuditMode" | "GatingStopped"): Admission {
  return { kind: "pass", reason, tolerations: planUndecidedTolerations(pod, settings.ownTaints) };
}

function isWorthPrefetching(facts: AdmissionFacts, { kind }: Admission, possibleBundles: readonly string[]): boolean {
  const { subject, plan, known } = facts;
  if (subject === "job") return known === undefined;
  if (plan.kind === "decided") return known === undefined || known.isAging || possibleBundles.length > 0;
  return kind === "gate" || kind === "place" && known?.isAging === true;
}

function tolerationsOfDecided(
  { pod, settings }: AdmissionFacts,
  judgement: ImageJudgement | undefined,
): readonly AddedToleration[] {
  // If the images share no architecture, no node is better than another: all taints are tolerated.
  const isFinal = judgement?.kind === "shared" && judgement.possibleBundles.length === 0;
  const isKnown = isFinal && judgement.architectures.length > 0;
  return planUndecidedTolerations(pod, settings.ownTaints, isKnown ? judgement.architectures : undefined);
}

/** The decision where it can be made without asking a registry; undefined where it cannot. */
function decideWarm(
  facts: AdmissionFacts,
  judgement: ImageJudgement | undefined,
): PlaceDecision | NowhereDecision | undefined {
  const { plan } = facts;
  if (plan.kind === "decided") {
    if (plan.decision.kind !== "place") return undefined;
    return { ...plan.decision, tolerations: tolerationsOfDecided(facts, judgement) };
  }
  const isComplete = judgement?.kind === "shared" && judgement.possibleBundles.length === 0;
  return isComplete ? placeByImages(judgement, plan, facts) : undefined;
}

/**
 * Whether an earlier call of the same admission carried this decision out: its record is there, and nothing is missing.
 */
function isRepeated({ pod, plan }: AdmissionFacts, decision: PlaceDecision | NowhereDecision): boolean {
  const record = decisionRecordOf(decision);
  const isComplete = decision.preferences.terms.length === 0 &&
    (decision.kind === "nowhere" || decision.tolerations.length === 0);
  return isComplete && (plan.archwaysRequirement !== undefined || plan.preferences.isPresent) && record !== undefined &&
    entryOf(pod.annotations, PodAnnotation.decision) === renderRecord(record);
}
