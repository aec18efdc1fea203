// The first phase of every decision: what the pod, the configs and the settings decide by themselves, or else the images
// that must be inspected. Each rule about the pod is evaluated here, once; the later phases take the result.
import type { ImageUse } from "../oci/types.ts";
import { type OwnTerms, planPreferences } from "./preferences.ts";
import { fallbackArchitecture, scoringSources, scoringWanted, selectConfigs } from "./config/selection.ts";
import type { PlacementConfigs, PlacementSettings } from "./config/types.ts";
import type { PlacementDecision } from "./decision_types.ts";
import { giveUp } from "./give_up.ts";
import { ignoreReason } from "./ignore.ts";
import { imagesToInspect, MAX_IMAGES } from "./images.ts";
import { hasRequiredArchitecture } from "./patch/constraints.ts";
import { ownRequirement } from "./patch/own_terms.ts";
import { planUndecidedTolerations } from "./patch/tolerations.ts";
import { placeUserConstrained } from "./place.ts";
import type { InspectionPlan, PodPlan, PodView } from "./types.ts";

/** What a plan is made from besides the pod. */
export interface PlanOptions {
  readonly configs: PlacementConfigs;
  readonly settings: PlacementSettings;
  /** Which preferred terms on the pod count as Archway's; `audited` for a stored pod. */
  readonly ownTerms?: OwnTerms | undefined;
}

/** Plans the decision about a pod. */
export function planInspection(pod: PodView, options: PlanOptions): InspectionPlan {
  const { configs, settings, ownTerms = "audited" } = options;
  const selected = selectConfigs(pod, configs);
  const plan: PodPlan = {
    scoring: scoringWanted(selected),
    preferences: planPreferences(pod, { sources: scoringSources(selected), ownTerms }),
    fallback: fallbackArchitecture(selected),
    own: ownRequirement(pod),
  };
  const reason = ignoreReason({ pod, settings, plan });
  if (reason !== undefined) {
    const tolerations = planUndecidedTolerations(pod, settings.ownTaints);
    const ignored = { kind: "ignore", reason, ...tolerations.length === 0 ? {} : { tolerations } } as const;
    return { ...plan, kind: "decided", decision: ignored };
  }
  if (plan.own === undefined && hasRequiredArchitecture(pod)) {
    return { ...plan, kind: "decided", decision: placeUserConstrained(plan.preferences, { pod, settings }) };
  }
  const images = imagesToInspect(pod, settings);
  if (images.length <= MAX_IMAGES) return { ...plan, kind: "inspect", images };
  return { ...plan, kind: "decided", decision: refuseToInspect(pod, { images, plan, settings }) };
}

function refuseToInspect(
  pod: PodView,
  { images, plan, settings }: {
    readonly images: readonly ImageUse[];
    readonly plan: PodPlan;
    readonly settings: PlacementSettings;
  },
): PlacementDecision {
  const message = `the pod names ${images.length} images, and at most ${MAX_IMAGES} of one pod are inspected`;
  const failed = {
    image: images[MAX_IMAGES]?.image ?? "",
    failure: { kind: "permanent", reason: "TooManyImages", message },
  } as const;
  return giveUp({ pod, settings, plan, failed, attempt: 0, images: [] });
}
