// What is decided about a pod: the webhook's verdict, the controller's decision, and the record of it on the pod.
import type { InspectionFailure } from "../../oci/types.ts";
import type { LabelRequirement } from "../../vocabulary/label_selector.ts";
import type { TolerationPlan } from "../../vocabulary/taint.ts";

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

export interface PreferencePlan {
  readonly terms: readonly PreferredTerm[];
  /** The complete new value of the audit annotation; undefined when the plan has nothing to audit. */
  readonly audit: string | undefined;
  readonly outcomes: readonly PreferenceOutcome[];
  /** A config asks for preferences on this pod. */
  readonly wanted: boolean;
  /** The user stated an architecture preference (in preferred terms of its own): nothing is added. */
  readonly userStated: boolean;
  /** The pod has terms of ours, new ones or earlier ones. */
  readonly present: boolean;
}

export interface ArchitectureRequirement {
  readonly kind: "in";
  readonly architectures: readonly string[];
  /** Further expressions for single architectures; usually empty. */
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

export type AdmissionVerdict =
  & {
    readonly nodeAffinityScoring: boolean;
    /** Where a pod is decided without its images: those whose config must be read before its tolerations are final. */
    readonly imageConfigs: readonly string[];
  }
  & (
    | WithTolerations & { readonly kind: "ignore"; readonly reason: IgnoreReason }
    | { readonly kind: "gate" }
    | {
      readonly kind: "place";
      readonly decision: PlaceDecision | NowhereDecision;
      /** An earlier call of the same admission already carried the decision out. */
      readonly repeated: boolean;
    }
    /** Without gate or affinity. `GatingStopped`: nothing is gated now, and not all images are known. */
    | WithTolerations & { readonly kind: "pass"; readonly reason: "AuditMode" | "GatingStopped" }
  );

interface WithTolerations {
  /** Of taints that Archway puts on nodes. */
  readonly tolerations: readonly TolerationPlan[];
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
  readonly preferences: PreferencePlan;
  readonly tolerations: readonly TolerationPlan[];
  /** No node of the cluster has any of the architectures (known only with live architectures). */
  readonly noMatchingNodes: boolean;
  readonly findings: readonly string[];
}

export interface NowhereDecision {
  readonly kind: "nowhere";
  readonly images: readonly ImageOutcome[];
  readonly preferences: PreferencePlan;
}

export interface ImageFailure {
  readonly image: string;
  readonly failure: InspectionFailure;
}

export type ImageJudgement = {
  readonly outcomes: readonly ImageOutcome[];
  /** The images whose config must be read before this is final; empty when it is. */
  readonly imageConfigs: readonly string[];
} & (SharedImages | { readonly kind: "failed"; readonly failed: ImageFailure });

export interface SharedImages {
  readonly kind: "shared";
  /** Sorted; empty when the images share none. */
  readonly architectures: readonly string[];
  /** The instruction set level that the images need on an architecture (`v3`); absent = any. */
  readonly levels: ReadonlyMap<string, string>;
  /** What the inspections found besides the platforms, each with its image. */
  readonly findings: readonly string[];
}

/** An image that could not be inspected in `attempt` rounds of inspections; 0 when none was made. */
export interface GivenUp {
  readonly failed: ImageFailure;
  readonly attempt: number;
  readonly images: readonly ImageOutcome[];
}

export interface FallbackDecision extends GivenUp {
  readonly kind: "fallback";
  readonly architecture: string;
  readonly preferences: PreferencePlan;
  readonly tolerations: readonly TolerationPlan[];
}

export interface ReleaseDecision extends GivenUp, WithTolerations {
  readonly kind: "release";
  readonly preferences: PreferencePlan;
  /** What an earlier decision of Archway requires of nodes, which stays on the pod; undefined when it requires nothing. */
  readonly kept: readonly string[] | undefined;
}

export type PlacementDecision =
  /** Takes the gate off and changes nothing that the pod requires or prefers. */
  | Partial<WithTolerations> & { readonly kind: "ignore"; readonly reason: IgnoreReason }
  | PlaceDecision
  | NowhereDecision
  /** Inspects again after a pause; the gate stays. `count` is the label's value, 1–4. */
  | {
    readonly kind: "retry";
    readonly afterMs: number;
    readonly failed: ImageFailure;
    readonly count: number;
    readonly preferences: PreferencePlan;
  }
  | FallbackDecision
  | ReleaseDecision;

/** The decision as it is kept on the pod (annotation `archway.dev/decision`). */
export interface DecisionRecord {
  readonly version: 1;
  readonly decision: "place" | "user-constrained" | "nowhere" | "fallback" | "release";
  readonly architectures: readonly string[];
  readonly images: readonly ImageOutcome[];
  readonly omitted: number;
}
