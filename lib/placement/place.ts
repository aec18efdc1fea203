// The decision to place a pod: what is required of its nodes, preferred and tolerated, from the architectures that its
// images share. Warm admission and the controller's decision both end here, so that they place a pod alike.
import { intersectArchitectures } from "../arch.ts";
import type { PlacementSettings } from "./config/types.ts";
import type { NowhereDecision, PlaceDecision, PreferencePlan, SharedJudgement } from "./decision_types.ts";
import { planTolerations, planUndecidedTolerations } from "./patch/tolerations.ts";
import type { PodPlan, PodView } from "./types.ts";
import { requirementOf } from "./variants.ts";

/** What a placement is made from besides the images. */
export interface PlaceOptions {
  readonly pod: PodView;
  readonly settings: PlacementSettings;
  readonly plan: PodPlan;
  /** What nodes offer or can be created with; undefined when that is not watched. */
  readonly liveArchitectures?: readonly string[] | undefined;
}

/** The pod's images are inspected: it may run where all of them do, or nowhere. */
export function placeByImages(
  judgement: SharedJudgement,
  { pod, settings, plan, liveArchitectures: live }: PlaceOptions,
): PlaceDecision | NowhereDecision {
  const { preferences, own } = plan;
  const { outcomes: images, levels, findings } = judgement;
  // A requirement of ours that stands on the pod is only narrowed, even when the images meanwhile support more.
  const shared = own === undefined
    ? judgement.architectures
    : intersectArchitectures([judgement.architectures, own.record.architectures]);
  if (shared.length === 0) return { kind: "nowhere", images, preferences };
  const offered = live === undefined ? shared : shared.filter((architecture) => live.includes(architecture));
  const noMatchingNodes = offered.length === 0;
  const required = requirementOf(pod, { architectures: noMatchingNodes ? shared : offered, levels, settings });
  const { architectures } = required;
  const tolerations = planTolerations(pod, { architectures, taints: settings.archTaints });
  return { kind: "place", required, images, preferences, tolerations, noMatchingNodes, findings };
}

/** The user has constrained the architecture: only preferences, and tolerations of our own taints, are added. */
export function placeUserConstrained(
  preferences: PreferencePlan,
  { pod, settings }: Pick<PlaceOptions, "pod" | "settings">,
): PlaceDecision {
  const tolerations = planUndecidedTolerations(pod, settings.ownTaints);
  const nothing = { images: [], findings: [], noMatchingNodes: false } as const;
  return { kind: "place", required: { kind: "user-constrained" }, preferences, tolerations, ...nothing };
}
