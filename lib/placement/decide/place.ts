// The decision to place a pod, by its images' architectures or without them. Warm admission decides the same way.
import { intersectArchitectures } from "../../arch.ts";
import type { PlacementSettings } from "./config/settings.ts";
import type {
  FallbackDecision,
  GivenUp,
  ImageJudgement,
  NowhereDecision,
  PlaceDecision,
  PlacementDecision,
  Preferences,
  ReleaseDecision,
  SharedImages,
} from "./decision_types.ts";
import { planTolerations, planUndecidedTolerations } from "./patch/tolerations.ts";
import type { PlacementFacts, PlannedPod, PodPlan } from "./facts.ts";
import type { PodView } from "./pod/pod_view.ts";
import { requirementOf } from "./variants.ts";

export function placeByImages(
  judgement: ImageJudgement & SharedImages,
  { preferences, archwaysRequirement }: PodPlan,
  { pod, settings, liveArchitectures: live }: Pick<PlacementFacts, "pod" | "settings" | "liveArchitectures">,
): PlaceDecision | NowhereDecision {
  const { outcomes: images, variants, findings } = judgement;
  // Our own requirement on the pod is only narrowed, even if the images now support more.
  const shared = archwaysRequirement === undefined
    ? judgement.architectures
    : intersectArchitectures([judgement.architectures, archwaysRequirement.record.architectures]);
  if (shared.length === 0) return { kind: "nowhere", images, preferences };
  const offered = live === undefined ? shared : shared.filter((architecture) => live.includes(architecture));
  const isOutOfReach = offered.length === 0;
  const required = requirementOf(pod, settings, { architectures: isOutOfReach ? shared : offered, variants });
  const { architectures } = required;
  const tolerations = planTolerations(pod, architectures, settings.toleratedTaints);
  return { kind: "place", required, images, preferences, tolerations, isOutOfReach, findings };
}

/** The architectures that a decision requires; undefined without a requirement. */
export function requiredArchitectures(decision: PlacementDecision): readonly string[] | undefined {
  if (decision.kind === "fallback") return [decision.architecture];
  return decision.kind === "place" && decision.required.kind === "in" ? decision.required.architectures : undefined;
}

/** For a pod whose user constrains the architecture: adds only preferences, and tolerations of our own taints. */
export function placeUserConstrained(
  pod: PodView,
  { ownTaints }: PlacementSettings,
  preferences: Preferences,
): PlaceDecision {
  const tolerations = planUndecidedTolerations(pod, ownTaints);
  const nothing = { images: [], findings: [], isOutOfReach: false } as const;
  return { kind: "place", required: { kind: "user-constrained" }, preferences, tolerations, ...nothing };
}

/** Requires the fallback, else nothing new. Never contradicts an earlier requirement, as no node would match. */
export function giveUp(
  { pod, settings: { toleratedTaints, ownTaints }, plan }: PlannedPod<PodPlan>,
  given: GivenUp,
): FallbackDecision | ReleaseDecision {
  const { fallback: architecture, preferences, archwaysRequirement } = plan;
  const kept = archwaysRequirement?.record.architectures;
  if (architecture !== undefined && kept?.includes(architecture) !== false) {
    const tolerations = planTolerations(pod, [architecture], toleratedTaints);
    return { kind: "fallback", architecture, ...given, preferences, tolerations };
  }
  const tolerations = kept === undefined
    ? planUndecidedTolerations(pod, ownTaints)
    : planTolerations(pod, kept, toleratedTaints);
  return { kind: "release", ...given, preferences, kept, tolerations };
}
