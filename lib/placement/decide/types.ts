// The inputs of a decision: the pod as Archway reads it, and the facts about it.
import type { Toleration } from "../../vocabulary/taint.ts";
import type { JsonObject } from "../../json.ts";
import type { PlacementSettings } from "./config/types.ts";
import type { ImageUse } from "../../oci/types.ts";
import type { DecisionRecord, ImageJudgement, PlacementDecision, Preferences } from "./decision_types.ts";

export interface ContainerView {
  readonly name: string;
  readonly image: string;
  /** `Always`, `IfNotPresent`, `Never`; empty when unset. */
  readonly pullPolicy: string;
  /** JSON Pointer of the image inside the pod: `/spec/containers/0/image`. */
  readonly imagePointer: string;
}

export interface OwnerView {
  readonly apiVersion: string;
  readonly kind: string;
  readonly uid: string;
  readonly name: string;
  readonly controller: boolean;
}

export interface MetadataView {
  readonly uid: string;
  readonly name: string;
  readonly generateName: string;
  readonly resourceVersion: string;
  readonly createdMs: number | undefined;
  readonly isDeleting: boolean;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Only Archway's annotations; undefined when the pod has no annotations object. */
  readonly annotations: Readonly<Record<string, string>> | undefined;
  /** The decision record among them, if valid. */
  readonly record: DecisionRecord | undefined;
  /** Total UTF-8 bytes of all annotation keys and values. */
  readonly annotationBytes: number;
}

export interface AffinityView {
  readonly hasAffinity: boolean;
  readonly hasNodeAffinity: boolean;
  /** Raw required terms; undefined without `required…`, empty when it has no list. */
  readonly requiredTerms: readonly JsonObject[] | undefined;
  /** Whether `required…` has a `nodeSelectorTerms` list (it may be an object without one). */
  readonly hasRequiredTermsList: boolean;
  /** Raw preferred terms; undefined when the list is absent. */
  readonly preferredTerms: readonly JsonObject[] | undefined;
}

/** Missing, null or malformed members read as absent (undefined, or empty for a text). */
export interface PodView extends MetadataView, AffinityView {
  readonly namespace: string;
  readonly phase: string;
  readonly nodeName: string;
  readonly nodeSelector: Readonly<Record<string, string>> | undefined;
  /** Names of the scheduling gates in order; undefined without a list. */
  readonly gates: readonly string[] | undefined;
  /** Init containers (including sidecars), then main containers, each in order. */
  readonly containers: readonly ContainerView[];
  readonly ephemeralContainers: readonly ContainerView[];
  /** Images of `volumes[].image`, and of containers that hold the disks of a virtual machine. */
  readonly imageVolumes: readonly ContainerView[];
  readonly imagePullSecrets: readonly string[];
  readonly serviceAccountName: string;
  readonly tolerations: readonly Toleration[] | undefined;
  readonly owners: readonly OwnerView[];
  readonly isDaemonSetControlled: boolean;
  readonly osName: string;
  readonly runtimeClassName: string;
}

/** Archway's earlier decision that is still in the pod's required terms. */
export interface ArchwaysRequirement {
  readonly record: DecisionRecord;
  /** The architectures that the decision wrote into a term; undefined for a user's term. */
  readonly architecturesOf: (term: JsonObject) => readonly string[] | undefined;
}

export interface PodPlan {
  readonly isScored: boolean;
  readonly preferences: Preferences;
  readonly fallback: string | undefined;
  readonly ownRequirement: ArchwaysRequirement | undefined;
}

/** A decision that needs no image, or the distinct images to inspect: containers, init containers, image volumes. */
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
  /** The permanently failed ones among them. After one is confirmed, retrying is useless. */
  readonly permanentFailures: number;
  /** 0..1: the next attempt's position in the jitter window. */
  readonly jitter: number;
  /** Architectures of present and possible nodes; undefined when not watched. */
  readonly liveArchitectures?: readonly string[] | undefined;
}
