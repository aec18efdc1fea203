// The decision to place a pod, by the architectures of its images or without them; warm admission makes the same.
import { intersectArchitectures } from "../../arch.ts";
import type { PlacementSettings } from "./config/types.ts";
import type {
  FallbackDecision,
  GivenUp,
  ImageJudgement,
  NowhereDecision,
  PlaceDecision,
  PlacementDecision,
  PreferencePlan,
  ReleaseDecision,
  SharedImages,
} from "./decision_types.ts";
import { planTolerations, planUndecidedTolerations } from "./patch/tolerations.ts";
import type { PlacementFacts, PlannedPod, PodPlan, PodView } from "./types.ts";
import { requirementOf } from "./variants.ts";

export function placeByImages(
  judgement: ImageJudgement & SharedImages,
  { preferences, own }: PodPlan,
  { pod, settings, liveArchitectures: live }: Pick<PlacementFacts, "pod" | "settings" | "liveArchitectures">,
): PlaceDecision | NowhereDecision {
  const { outcomes: images, levels, findings } = judgement;
  // A requirement of ours that stands on the pod is only narrowed, even when the images meanwhile support more.
  const shared = own === undefined
    ? judgement.architectures
    : intersectArchitectures([judgement.architectures, own.record.architectures]);
  if (shared.length === 0) return { kind: "nowhere", images, preferences };
  const offered = live === undefined ? shared : shared.filter((architecture) => live.includes(architecture));
  const noMatchingNodes = offered.length === 0;
  const required = requirementOf(pod, settings, { architectures: noMatchingNodes ? shared : offered, levels });
  const { architectures } = required;
  const tolerations = planTolerations(pod, architectures, settings.archTaints);
  return { kind: "place", required, images, preferences, tolerations, noMatchingNodes, findings };
}

/** The architectures that a decision requires of nodes; undefined where it requires none. */
export function requiredArchitectures(decision: PlacementDecision): readonly string[] | undefined {
  if (decision.kind === "fallback") return [decision.architecture];
  return decision.kind === "place" && decision.required.kind === "in" ? decision.required.architectures : undefined;
}

/** The user has constrained the architecture: only preferences, and tolerations of our own taints, are added. */
export function placeUserConstrained(
  pod: PodView,
  { ownTaints }: PlacementSettings,
  preferences: PreferencePlan,
): PlaceDecision {
  const tolerations = planUndecidedTolerations(pod, ownTaints);
  const nothing = { images: [], findings: [], noMatchingNodes: false } as const;
  return { kind: "place", required: { kind: "user-constrained" }, preferences, tolerations, ...nothing };
}

/** The fallback, else no requirement. One that Archway wrote before is narrowed or kept: two that contradict fit no node. */
export function giveUp(
  { pod, settings: { archTaints, ownTaints }, plan }: PlannedPod<PodPlan>,
  given: GivenUp,
): FallbackDecision | ReleaseDecision {
  const { fallback: architecture, preferences, own } = plan;
  const kept = own?.record.architectures;
  if (architecture !== undefined && kept?.includes(architecture) !== false) {
    const tolerations = planTolerations(pod, [architecture], archTaints);
    return { kind: "fallback", architecture, ...given, preferences, tolerations };
  }
  const tolerations = kept === undefined
    ? planUndecidedTolerations(pod, ownTaints)
    : planTolerations(pod, kept, archTaints);
  return { kind: "release", ...given, preferences, kept, tolerations };
}
