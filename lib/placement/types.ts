// The words of pod placement: what is known of a pod, what is decided about it, what is told. Every file here uses them.
import type { Inspection, InspectionFailure } from "../oci/types.ts";
import type { LabelRequirement, PlacementConfigs, PlacementSettings, RawObject } from "./config_types.ts";

export type {
  ArchTaint,
  ClusterConfig,
  LabelRequirement,
  LabelSelector,
  NamespaceConfig,
  Parsed,
  PlacementConfigs,
  PlacementSettings,
  RawObject,
  RuntimeClassRule,
  VariantLabel,
} from "./config_types.ts";

/** A container that pulls an image. Source: pod placement §2.7 step 2. */
export interface ContainerView {
  readonly name: string;
  readonly image: string;
  /** `Always`, `IfNotPresent`, `Never`; empty when the pod does not say. */
  readonly pullPolicy: string;
  /** JSON Pointer of the image inside the pod: `/spec/containers/0/image`. */
  readonly imagePointer: string;
}

/** A toleration, reduced to what decides whether it matches a taint. */
export interface TolerationView {
  readonly key: string;
  readonly operator: string;
  readonly value: string;
  readonly effect: string;
}

/** An owner reference, reduced to what the rules look at. */
export interface OwnerView {
  readonly kind: string;
  readonly name: string;
  readonly controller: boolean;
}

/**
 * What Archway reads of a pod: small, and holding nothing of the raw object but its node affinity terms.
 * A missing, null or malformed member reads as absent (undefined, or empty for a text).
 */
export interface PodView {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly generateName: string;
  readonly resourceVersion: string;
  readonly creationTimestampMs: number | undefined;
  readonly deleting: boolean;
  readonly phase: string;
  readonly nodeName: string;
  readonly nodeSelector: Readonly<Record<string, string>> | undefined;
  /** Names of the scheduling gates in their order; undefined when the list is absent. */
  readonly gates: readonly string[] | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Only the annotations Archway owns; undefined when the pod has no annotations object at all. */
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly hasAffinity: boolean;
  readonly hasNodeAffinity: boolean;
  /** Raw required terms; undefined when `required…` is absent, empty when it holds no list. */
  readonly requiredTerms: readonly RawObject[] | undefined;
  /** Whether `required…` has a `nodeSelectorTerms` list (it may be an object without one). */
  readonly hasRequiredTermsList: boolean;
  /** Raw preferred terms; undefined when the list is absent. */
  readonly preferredTerms: readonly RawObject[] | undefined;
  /** Init containers (sidecars included) first, then the main ones, each in order. */
  readonly containers: readonly ContainerView[];
  readonly ephemeralContainers: readonly ContainerView[];
  /** Images of `volumes[].image`. */
  readonly imageVolumes: readonly ContainerView[];
  /** Names of the pull secrets, in order. */
  readonly imagePullSecrets: readonly string[];
  readonly serviceAccountName: string;
  /** undefined when the list is absent. */
  readonly tolerations: readonly TolerationView[] | undefined;
  readonly owners: readonly OwnerView[];
  /** Owned by a DaemonSet that is its controller (rule I5). */
  readonly isDaemonSetControlled: boolean;
  /** `spec.os.name` */
  readonly osName: string;
  readonly runtimeClassName: string;
}

/** What is known of one image of the pod. */
export interface ImageFact {
  readonly image: string;
  readonly pullPolicy: string;
  readonly inspection: Inspection;
  /** Where the knowledge came from, for the decision record. */
  readonly source?: "registry" | "cache";
}

/** What the webhook knows when a pod arrives. */
export interface AdmissionFacts {
  readonly pod: PodView;
  readonly configs: PlacementConfigs;
  readonly settings: PlacementSettings;
  /** The inspections of all images, when all are warm. */
  readonly known: readonly ImageFact[] | undefined;
  /** False when the dead-man switch says that nobody would remove a gate. Warm admission stays. */
  readonly mayGate: boolean;
  readonly liveArchitectures?: readonly string[];
}

/** Why a pod is left alone. The first six are the rules I1–I6 (§1.3), in order; the others are Archway's. */
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
  /** The dead-man switch is off and the images are not all known. */
  | "GatingStopped"
  /** This service's own patch of an earlier call of the same admission. */
  | "OwnPatch";

/** The webhook's verdict. `nodeAffinityScoring`: a config wants preferences on this pod (§1.2 step 6). */
export type GateVerdict =
  | { readonly kind: "ignore"; readonly reason: IgnoreReason; readonly nodeAffinityScoring: boolean }
  | { readonly kind: "gate"; readonly nodeAffinityScoring: boolean }
  | {
    readonly kind: "place";
    readonly decision: PlaceDecision | NowhereDecision;
    readonly nodeAffinityScoring: boolean;
  }
  | { readonly kind: "pass"; readonly reason: PassReason; readonly nodeAffinityScoring: boolean };

/** What the controller knows when it decides. */
export interface PlacementFacts {
  readonly pod: PodView;
  readonly configs: PlacementConfigs;
  readonly settings: PlacementSettings;
  /** One per image of `imagesToInspect`, failures included; empty when `needsInspection` is false. */
  readonly images: readonly ImageFact[];
  /** How much of the longest gate age is used up (ms). */
  readonly gateAgeMs: number;
  /** Failed inspection rounds of this pod in this process, before this one. */
  readonly failedAttempts: number;
  /** 0..1: where in the jitter window the next attempt falls. */
  readonly jitter: number;
  /** What nodes offer or can create; undefined = not asked for. */
  readonly liveArchitectures?: readonly string[];
}

/** What one image contributed to a decision. */
export interface ImageOutcome {
  readonly image: string;
  /** Empty when the image could not be inspected. */
  readonly digest: string;
  /** Sorted. Empty when the image failed. */
  readonly architectures: readonly string[];
  readonly source: "registry" | "cache" | "bundle" | "failed";
}

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

/** The pod may run on these architectures. */
export interface PlaceDecision {
  readonly kind: "place";
  readonly required: RequiredPlan;
  readonly images: readonly ImageOutcome[];
  readonly preferences: PreferencePlan;
  readonly tolerations: readonly TolerationPlan[];
  /** Nothing in the cluster offers any of the architectures (only known with live architectures). */
  readonly outOfReach: boolean;
  /** What the inspections found worth telling beside the platforms, for people. */
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

/** What is to become of a gated pod. */
export type PlacementDecision =
  /** Leave the pod unconstrained; rules I1–I6 also take the gate off. */
  | { readonly kind: "ignore"; readonly reason: IgnoreReason }
  | PlaceDecision
  | NowhereDecision
  /** Ask again after a while; the gate stays. `count` is the label's value, 1–4. */
  | {
    readonly kind: "retry";
    readonly afterMs: number;
    readonly failed: ImageFailure;
    readonly attempt: number;
    readonly count: number;
    readonly preferences: PreferencePlan;
  }
  /** Given up: constrained to the configured architecture. */
  | {
    readonly kind: "fallback";
    readonly architecture: string;
    readonly failed: ImageFailure;
    readonly attempt: number;
    readonly images: readonly ImageOutcome[];
    readonly preferences: PreferencePlan;
    readonly tolerations: readonly TolerationPlan[];
  }
  /** Given up: released without a required architecture. */
  | {
    readonly kind: "release";
    readonly failed: ImageFailure;
    readonly attempt: number;
    readonly images: readonly ImageOutcome[];
    readonly preferences: PreferencePlan;
  };

/** The decision as it is kept on the pod (annotation `archway.dev/decision`). */
export interface DecisionRecord {
  readonly version: 1;
  readonly decision: "place" | "preset" | "nowhere" | "fallback" | "release";
  readonly architectures: readonly string[];
  readonly images: readonly ImageOutcome[];
  /** Images left out to keep the record small. */
  readonly omitted: number;
}
