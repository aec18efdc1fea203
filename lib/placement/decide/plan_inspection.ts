// The first phase of every decision: a decision without images, or the images to inspect.
import type { ImageUse } from "../../oci/inspection.ts";
import { type ArchwaysTerms, planPreferences } from "./preferences.ts";
import { fallbackArchitecture, isScoringWanted, scoringSources, selectConfigs } from "./config/selection.ts";
import type { PlacementSettings } from "./config/settings.ts";
import type { PlacementConfigs } from "./config/config.ts";
import type { PlacementDecision } from "./decision_types.ts";
import { ignoreReason } from "./ignore.ts";
import { imagesToInspect, MAX_IMAGES, pinnedImages } from "./images_to_inspect.ts";
import { hasRequiredArchitecture } from "./pod/constraints.ts";
import { archwaysRequirement } from "./pod/archways_terms.ts";
import { planUndecidedTolerations } from "./patch/tolerations.ts";
import { giveUp, placeUserConstrained } from "./place.ts";
import type { InspectionPlan, PlannedPod, PodPlan } from "./facts.ts";
import type { PodView } from "./pod/pod_view.ts";

/**
 * Plans the decision about a pod. `archwaysTerms`: which preferred terms are Archway's; `recorded` for a stored pod.
 */
export function planInspection(
  pod: PodView,
  configs: PlacementConfigs,
  settings: PlacementSettings,
  archwaysTerms: ArchwaysTerms = "recorded",
): InspectionPlan {
  const selected = selectConfigs(pod, configs);
  const plan: PodPlan = {
    isScored: isScoringWanted(selected),
    preferences: planPreferences(pod, scoringSources(selected), archwaysTerms),
    fallback: fallbackArchitecture(selected),
    archwaysRequirement: archwaysRequirement(pod),
  };
  const reason = ignoreReason(pod, settings, plan);
  if (reason !== undefined) {
    const tolerations = planUndecidedTolerations(pod, settings.ownTaints);
    const ignored = { kind: "ignore", reason, ...tolerations.length === 0 ? {} : { tolerations } } as const;
    return { ...plan, kind: "decided", decision: ignored };
  }
  if (plan.archwaysRequirement === undefined && hasRequiredArchitecture(pod)) {
    return { ...plan, kind: "decided", decision: placeUserConstrained(pod, settings, plan.preferences) };
  }
  const images = imagesToInspect(pod, settings);
  if (images.length <= MAX_IMAGES) return { ...plan, kind: "inspect", images };
  return { ...plan, kind: "decided", decision: refuseToInspect({ pod, settings, plan }, images) };
}

/** The plan for a queued template. If it names architectures itself, its images are judged as well. */
export function planQueued(template: PodView, configs: PlacementConfigs, settings: PlacementSettings): InspectionPlan {
  const plan = planInspection(template, configs, settings);
  if (plan.kind === "inspect" || !isUsersOwn(plan.decision)) return plan;
  const images = pinnedImages(template, settings);
  const { isScored, preferences, archwaysRequirement } = plan;
  // If its images cannot be read, only the template's own constraint counts.
  return images.length === 0
    ? plan
    : { kind: "inspect", images, isScored, preferences, archwaysRequirement, fallback: undefined };
}

function isUsersOwn(decision: PlacementDecision): boolean {
  if (decision.kind === "ignore") return decision.reason === "AlreadyConstrained";
  return decision.kind === "place" && decision.required.kind === "user-constrained";
}

function refuseToInspect(planned: PlannedPod<PodPlan>, images: readonly ImageUse[]): PlacementDecision {
  const message = `the pod names ${images.length} images, and at most ${MAX_IMAGES} of one pod are inspected`;
  const failed = {
    image: images[MAX_IMAGES]?.image ?? "",
    failure: { kind: "permanent", reason: "TooManyImages", message },
  } as const;
  return giveUp(planned, { failed, attempt: 0, images: [] });
}
