// What a decision adds to a pod: required and preferred architectures, and tolerations.
import type { LabelRequirement } from "./config_types.ts";

/** A preferred term that Archway adds. */
export interface PreferredTerm {
  readonly weight: number;
  readonly architecture: string;
}

/** What one config contributed to the preferences. */
export interface PreferenceOutcome {
  /** `ClusterPodPlacementConfig` or `PodPlacementConfig-<name>`. */
  readonly source: string;
  readonly applied: readonly string[];
  readonly skipped: readonly string[];
}

/** Which preferred terms to append, and how it came about. */
export interface PreferencePlan {
  readonly terms: readonly PreferredTerm[];
  /** The whole audit annotation as it must end; undefined when the plan has nothing to audit. */
  readonly audit: string | undefined;
  readonly outcomes: readonly PreferenceOutcome[];
  /** A config wants preferences on this pod. */
  readonly wanted: boolean;
  /** The user stated an architecture preference (in preferred terms of its own): nothing is added. */
  readonly userStated: boolean;
  /** Terms of ours are on the pod, from now or from before. */
  readonly present: boolean;
}

/** What is required of nodes. `user-constrained`: the pod's own constraint holds, nothing is added. */
export type RequiredPlan = ArchitectureRequirement | { readonly kind: "user-constrained" };

/** The architectures that a node may have. */
export interface ArchitectureRequirement {
  readonly kind: "in";
  readonly architectures: readonly string[];
  /** Further expressions for single architectures; usually empty. */
  readonly variants: readonly VariantRequirement[];
}

/** A node label that an architecture additionally needs. */
export interface VariantRequirement {
  readonly architecture: string;
  readonly requirement: LabelRequirement;
}

/** A toleration to add. */
export interface TolerationPlan {
  readonly key: string;
  readonly operator: "Equal";
  readonly value: string;
  readonly effect: string;
}
