// What a decision adds to a pod: required and preferred architectures, tolerations. Planned by place.ts, written by the
// patches.
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

/** Which preferred terms to append, and how it came about. Source: §2.5. */
export interface PreferencePlan {
  readonly terms: readonly PreferredTerm[];
  /** The whole audit annotation as it must end; undefined when the plan has nothing to audit. */
  readonly audit: string | undefined;
  readonly outcomes: readonly PreferenceOutcome[];
  /** A config wants preferences on this pod. */
  readonly wanted: boolean;
  /** The user stated an architecture preference (rule P): nothing is added. */
  readonly userStated: boolean;
  /** Terms of ours are on the pod, from now or from before. */
  readonly present: boolean;
}

/** What is required of nodes. `preset`: the user's own constraint holds (rule R), nothing is added. */
export type RequiredPlan =
  | {
    readonly kind: "in";
    readonly architectures: readonly string[];
    /** Further expressions for single architectures (variants); usually empty. */
    readonly variants: readonly VariantRequirement[];
  }
  | { readonly kind: "preset" };

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
