// What a decision is made from: the plan for a pod, the evidence of its images, and the facts.
import type { PlacementSettings } from "./config/settings.ts";
import type { ImageUse } from "../../oci/inspection.ts";
import type { ArchwaysRequirement } from "./pod/archways_terms.ts";
import type { PodView } from "./pod/pod_view.ts";
import type { ImageJudgement, PlacementDecision, Preferences } from "./decision_types.ts";

export interface PodPlan {
  readonly isScored: boolean;
  readonly preferences: Preferences;
  readonly fallback: string | undefined;
  readonly archwaysRequirement: ArchwaysRequirement | undefined;
}

/** A decision that needs no image, or the distinct images to inspect: of containers, init containers, image volumes. */
export type InspectionPlan =
  | PodPlan & { readonly kind: "decided"; readonly decision: PlacementDecision }
  | PodPlan & { readonly kind: "inspect"; readonly images: readonly ImageUse[] };

/** A pod and its plan before its images are read. */
export interface PlannedPod<Plan extends PodPlan = InspectionPlan> {
  readonly pod: PodView;
  readonly settings: PlacementSettings;
  readonly plan: Plan;
}

/** The result of a plan: an immediate decision, or the judgement of its images. */
export type Evidence =
  | { readonly kind: "decided"; readonly decision: PlacementDecision }
  | { readonly kind: "judged"; readonly plan: PodPlan; readonly judgement: ImageJudgement };

export interface PlacementFacts {
  readonly pod: PodView;
  readonly settings: PlacementSettings;
  readonly evidence: Evidence;
  /** The used part of the maximum gate age (ms). */
  readonly gateAgeMs: number;
  readonly failedAttempts: number;
  /** How many of these attempts failed permanently. After another permanent failure, retrying is useless. */
  readonly permanentFailures: number;
  /** 0..1: the next attempt's position in the jitter window. */
  readonly jitter: number;
  /** Architectures of present and possible nodes; undefined when not watched. */
  readonly liveArchitectures?: readonly string[] | undefined;
}
