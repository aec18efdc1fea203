// What a decision about a pod is made from: the pod as Archway reads it, and the facts gathered about it.
import type { Toleration } from "../../vocabulary/taint.ts";
import type { JsonObject } from "../../json.ts";
import type { PlacementSettings } from "./config/types.ts";
import type { ImageUse } from "../../oci/types.ts";
import type { DecisionRecord, ImageJudgement, PlacementDecision, PreferencePlan } from "./decision_types.ts";

export interface ContainerView {
  readonly name: string;
  readonly image: string;
  /** `Always`, `IfNotPresent`, `Never`; empty when the pod does not say. */
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

/** What is missing, null or malformed reads as absent (undefined, or empty for a text). */
export interface PodView {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly generateName: string;
  readonly resourceVersion: string;
  readonly createdMs: number | undefined;
  readonly isDeleting: boolean;
  readonly phase: string;
  readonly nodeName: string;
  readonly nodeSelector: Readonly<Record<string, string>> | undefined;
  /** Names of the scheduling gates in their order; undefined when the list is absent. */
  readonly gates: readonly string[] | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Only the annotations Archway owns; undefined when the pod has no annotations object at all. */
  readonly annotations: Readonly<Record<string, string>> | undefined;
  /** The decision record among them, when it can be read. */
  readonly record: DecisionRecord | undefined;
  /** Bytes of the keys and values of all annotations together, in UTF-8. */
  readonly annotationBytes: number;
  readonly hasAffinity: boolean;
  readonly hasNodeAffinity: boolean;
  /** Raw required terms; undefined when `required…` is absent, empty when it holds no list. */
  readonly requiredTerms: readonly JsonObject[] | undefined;
  /** Whether `required…` has a `nodeSelectorTerms` list (it may be an object without one). */
  readonly hasRequiredTermsList: boolean;
  /** Raw preferred terms; undefined when the list is absent. */
  readonly preferredTerms: readonly JsonObject[] | undefined;
  /** Init containers (sidecars included) first, then the main ones, each in order. */
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

/** An earlier decision of Archway that the pod's required terms still show. */
export interface OwnRequirement {
  readonly record: DecisionRecord;
  /** The architectures that the decision wrote into a term of the pod; undefined when the term is the user's. */
  readonly architecturesOf: (term: JsonObject) => readonly string[] | undefined;
}

export interface PodPlan {
  readonly scoring: boolean;
  readonly preferences: PreferencePlan;
  readonly fallback: string | undefined;
  readonly own: OwnRequirement | undefined;
}

/** A decision that needs no image, or the distinct images to inspect: containers, init containers, image volumes. */
export type InspectionPlan =
  | PodPlan & { readonly kind: "decided"; readonly decision: PlacementDecision }
  | PodPlan & { readonly kind: "inspect"; readonly images: readonly ImageUse[] };

/** A pod and what is settled about it before its images are read. */
export interface PlannedPod<Plan extends PodPlan = InspectionPlan> {
  readonly pod: PodView;
  readonly settings: PlacementSettings;
  readonly plan: Plan;
}

/** What the plan of a decision came to: a decision at once, or the judgement of the images that it named. */
export type Evidence =
  | { readonly kind: "decided"; readonly decision: PlacementDecision }
  | { readonly kind: "judged"; readonly plan: PodPlan; readonly judgement: ImageJudgement };

export interface PlacementFacts {
  readonly pod: PodView;
  readonly settings: PlacementSettings;
  readonly evidence: Evidence;
  /** How much of the maximum gate age is used up (ms). */
  readonly gateAgeMs: number;
  readonly failedAttempts: number;
  /** Those among them that failed permanently: asking again is no use after one of them was confirmed. */
  readonly permanentFailures: number;
  /** 0..1: where in the jitter window the next attempt falls. */
  readonly jitter: number;
  /** What nodes offer or can be created with; undefined when that is not watched. */
  readonly liveArchitectures?: readonly string[] | undefined;
}
