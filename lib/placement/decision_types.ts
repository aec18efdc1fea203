// What is decided about a pod: the requirements, preferences and tolerations that it gets, the webhook's verdict, the
// controller's decision, and the record of it on the pod.
import type { InspectionFailure } from "../oci/types.ts";
import type { LabelRequirement } from "../k8s/label_selector.ts";

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
  /** A config asks for preferences on this pod. */
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

/** Why a pod passes admission without gate or affinity. */
export type PassReason =
  | "AuditMode"
  /** Gating has stopped and the images are not all known. */
  | "GatingStopped";

/** The webhook's verdict. `nodeAffinityScoring`: a config asks for preferences on this pod. */
export type AdmissionVerdict =
  | {
    readonly kind: "ignore";
    readonly reason: IgnoreReason;
    /** Of taints that Archway puts on nodes. */
    readonly tolerations: readonly TolerationPlan[];
    readonly nodeAffinityScoring: boolean;
  }
  | { readonly kind: "gate"; readonly nodeAffinityScoring: boolean }
  | {
    readonly kind: "place";
    readonly decision: PlaceDecision | NowhereDecision;
    /** An earlier call of the same admission did all of it. */
    readonly repeated: boolean;
    readonly nodeAffinityScoring: boolean;
  }
  | {
    readonly kind: "pass";
    readonly reason: PassReason;
    /** As of `ignore`. */
    readonly tolerations: readonly TolerationPlan[];
    readonly nodeAffinityScoring: boolean;
  };

/** What one image contributed to a decision. */
export interface ImageOutcome {
  readonly image: string;
  /** Empty when the image could not be inspected. */
  readonly digest: string;
  /** Sorted. Empty when the image failed. */
  readonly architectures: readonly string[];
  readonly source: "registry" | "cache" | "bundle" | "failed";
}

/** The pod may run on these architectures. */
export interface PlaceDecision {
  readonly kind: "place";
  readonly required: RequiredPlan;
  readonly images: readonly ImageOutcome[];
  readonly preferences: PreferencePlan;
  readonly tolerations: readonly TolerationPlan[];
  /** Nothing in the cluster offers any of the architectures (only known with live architectures). */
  readonly noMatchingNodes: boolean;
  /** Oddities that the inspections found, as text for users. */
  readonly findings: readonly string[];
}

/** The images share no architecture: no node can run the pod. */
export interface NowhereDecision {
  readonly kind: "nowhere";
  readonly images: readonly ImageOutcome[];
  readonly preferences: PreferencePlan;
}

/** Which image failed, and how. */
export interface ImageFailure {
  readonly image: string;
  readonly failure: InspectionFailure;
}

/** The result for all images of a pod. */
export type ImageJudgement = SharedJudgement | FailedJudgement;

/** All images were inspected. */
export interface SharedJudgement {
  readonly kind: "shared";
  /** Sorted; empty when the images share none. */
  readonly architectures: readonly string[];
  /** The instruction set level that the images need on an architecture (`v3`); absent = any. */
  readonly levels: ReadonlyMap<string, string>;
  /** What the inspections found besides the platforms, each with its image. */
  readonly findings: readonly string[];
  readonly outcomes: readonly ImageOutcome[];
  /** The images whose config must be read before this is final; empty when it is. */
  readonly configOf: readonly string[];
}

/** Some image could not be inspected. */
export interface FailedJudgement {
  readonly kind: "failed";
  readonly failed: ImageFailure;
  readonly outcomes: readonly ImageOutcome[];
  /** As in {@link SharedJudgement}. */
  readonly configOf: readonly string[];
}

/** Inspects again after a pause; the gate stays. */
export interface RetryDecision {
  readonly kind: "retry";
  readonly afterMs: number;
  readonly failed: ImageFailure;
  readonly attempt: number;
  /** The label's value, 1–4. */
  readonly count: number;
  readonly preferences: PreferencePlan;
}

/** Gives up: the pod is constrained to the configured architecture. */
export interface FallbackDecision {
  readonly kind: "fallback";
  readonly architecture: string;
  readonly failed: ImageFailure;
  /** Rounds of inspections; 0 when none was made. */
  readonly attempt: number;
  readonly images: readonly ImageOutcome[];
  readonly preferences: PreferencePlan;
  readonly tolerations: readonly TolerationPlan[];
}

/** Gives up: the pod is released, and nothing further is required of its nodes. */
export interface ReleaseDecision {
  readonly kind: "release";
  readonly failed: ImageFailure;
  /** Rounds of inspections; 0 when none was made. */
  readonly attempt: number;
  readonly images: readonly ImageOutcome[];
  readonly preferences: PreferencePlan;
  /** What an earlier decision of Archway requires on the pod and goes on to; undefined when there is none. */
  readonly kept: readonly string[] | undefined;
  /** Of taints that Archway puts on nodes. */
  readonly tolerations: readonly TolerationPlan[];
}

/** What is to become of a gated pod. */
export type PlacementDecision =
  /** Leave the pod unconstrained and take the gate off; tolerations are of taints that Archway puts on nodes. */
  | { readonly kind: "ignore"; readonly reason: IgnoreReason; readonly tolerations?: readonly TolerationPlan[] }
  | PlaceDecision
  | NowhereDecision
  | RetryDecision
  | FallbackDecision
  | ReleaseDecision;

/** The decision as it is kept on the pod (annotation `archway.dev/decision`). */
export interface DecisionRecord {
  readonly version: 1;
  readonly decision: "place" | "user-constrained" | "nowhere" | "fallback" | "release";
  readonly architectures: readonly string[];
  readonly images: readonly ImageOutcome[];
  /** Images left out to keep the record small. */
  readonly omitted: number;
}
