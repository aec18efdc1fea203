// Decisions about a pod: the webhook's verdict, the controller's decision, and its record on the pod.
import type { ImageUse } from "../../oci/inspection.ts";
import type { RegistryFailure } from "../../oci/errors.ts";
import type { LabelRequirement } from "../../vocabulary/label_selector.ts";
import type { AddedToleration } from "../../vocabulary/taint.ts";

export interface PreferredTerm {
  readonly weight: number;
  readonly architecture: string;
}

export interface PreferenceOutcome {
  /** `ClusterPodPlacementConfig` or `PodPlacementConfig-<name>`. */
  readonly source: string;
  readonly applied: readonly string[];
  readonly skipped: readonly string[];
}

export interface Preferences {
  readonly terms: readonly PreferredTerm[];
  /** The complete new value of the annotation that names the sources of terms; undefined when there is none. */
  readonly sources: string | undefined;
  readonly outcomes: readonly PreferenceOutcome[];
  /** A config requests preferences for this pod. */
  readonly isWanted: boolean;
  /** The user's own preferred terms name an architecture, so nothing is added. */
  readonly isUserStated: boolean;
  /** The pod has our terms, new or earlier. */
  readonly isPresent: boolean;
}

export interface ArchitectureRequirement {
  readonly kind: "in";
  readonly architectures: readonly string[];
  /** Additional expressions for single architectures; usually empty. */
  readonly variants: readonly VariantRequirement[];
}

export interface VariantRequirement {
  readonly architecture: string;
  readonly requirement: LabelRequirement;
}

/** Why a pod is left alone. The first six are the rules of the MTO, in their order; the others are Archway's. */
export type IgnoreReason =
  | "OperatorNamespace"
  | "KubeNamespace"
  | "NodeNameSet"
  | "ControlPlaneSelector"
  | "DaemonSet"
  | "AlreadyConstrained"
  | "RuntimeClassSkipped"
  | "AuditMode"
  | "NotGated"
  | "Deleting";

/** How a new pod is admitted. */
export type Admission =
  | WithTolerations & { readonly kind: "ignore"; readonly reason: IgnoreReason }
  | { readonly kind: "gate" }
  | {
    readonly kind: "place";
    readonly decision: PlaceDecision | NowhereDecision;
    /** An earlier call of the same admission already applied the decision. */
    readonly isRepeated: boolean;
  }
  /** Adds neither gate nor affinity. `GatingStopped`: gating is stopped, and the pod is not placed from memory. */
  | WithTolerations & { readonly kind: "pass"; readonly reason: "AuditMode" | "GatingStopped" };

/** How a new pod is admitted, and what follows from it. */
export type AdmissionVerdict = Admission & {
  readonly isScored: boolean;
  /** The images to inspect in the background. */
  readonly prefetch: readonly ImageUse[];
  /** For a pod decided without its images: those that may be operator bundles, until their configs are read. */
  readonly possibleBundles: readonly string[];
  /** Whether the architectures that the pod itself names are compared with its images. */
  readonly isCompared: boolean;
};

interface WithTolerations {
  /** Tolerations of Archway's own taints. */
  readonly tolerations: readonly AddedToleration[];
}

export interface ImageOutcome {
  readonly image: string;
  /** Empty when the image could not be inspected. */
  readonly digest: string;
  /** Sorted. Empty when the image failed. */
  readonly architectures: readonly string[];
  readonly source: "registry" | "bundle" | "failed";
}

export interface PlaceDecision {
  readonly kind: "place";
  /** `user-constrained`: the pod's own constraint holds, nothing is added. */
  readonly required: ArchitectureRequirement | { readonly kind: "user-constrained" };
  readonly images: readonly ImageOutcome[];
  readonly preferences: Preferences;
  readonly tolerations: readonly AddedToleration[];
  /** No node has any of the architectures (known only with live architectures). */
  readonly isOutOfReach: boolean;
  readonly findings: readonly string[];
}

export interface NowhereDecision {
  readonly kind: "nowhere";
  readonly images: readonly ImageOutcome[];
  readonly preferences: Preferences;
}

export interface ImageFailure {
  readonly image: string;
  readonly failure: RegistryFailure;
}

export type ImageJudgement = {
  readonly outcomes: readonly ImageOutcome[];
  /** Images that may be operator bundles, since only their index was read; empty when the judgement is final. */
  readonly possibleBundles: readonly string[];
} & (SharedImages | { readonly kind: "failed"; readonly failed: ImageFailure });

/** Architecture → the lowest variant that the images need there (`v3`); absent = they run on all its nodes. */
export type LowestVariants = ReadonlyMap<string, string>;

export interface SharedImages {
  readonly kind: "shared";
  /** Sorted; empty when the images have none in common. */
  readonly architectures: readonly string[];
  readonly variants: LowestVariants;
  /** Other findings of the inspections, each with its image. */
  readonly findings: readonly string[];
}

/** An image that could not be inspected in `attempt` rounds; 0 when no round was made. */
export interface GivenUp {
  readonly failed: ImageFailure;
  readonly attempt: number;
  readonly images: readonly ImageOutcome[];
}

export interface FallbackDecision extends GivenUp {
  readonly kind: "fallback";
  readonly architecture: string;
  readonly preferences: Preferences;
  readonly tolerations: readonly AddedToleration[];
}

export interface ReleaseDecision extends GivenUp, WithTolerations {
  readonly kind: "release";
  readonly preferences: Preferences;
  /** The architectures that an earlier decision requires, which stay on the pod; undefined when none. */
  readonly kept: readonly string[] | undefined;
}

export type PlacementDecision =
  /** Removes the gate and keeps the pod's requirements and preferences. */
  | Partial<WithTolerations> & { readonly kind: "ignore"; readonly reason: IgnoreReason }
  | PlaceDecision
  | NowhereDecision
  /** Inspects again after a pause, with the gate kept. `count` is the label's value, 1–4. */
  | {
    readonly kind: "retry";
    readonly afterMs: number;
    readonly failed: ImageFailure;
    readonly count: number;
    readonly preferences: Preferences;
  }
  | FallbackDecision
  | ReleaseDecision;

/** The decision as stored on the pod (annotation `archway.dev/decision`). */
export interface DecisionRecord {
  readonly version: 1;
  readonly decision: "place" | "user-constrained" | "nowhere" | "fallback" | "release";
  readonly architectures: readonly string[];
  readonly images: readonly ImageOutcome[];
  readonly omitted: number;
}
