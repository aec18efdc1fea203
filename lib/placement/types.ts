// What is known when a pod is judged: the pod itself, its images, the configs. Gathered by webhook and controller.
import type { InspectedImage } from "../oci/types.ts";
import type { PlacementConfigs, PlacementSettings, RawObject } from "./config_types.ts";

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

/** What the webhook knows when a pod arrives. */
export interface AdmissionFacts {
  readonly pod: PodView;
  readonly configs: PlacementConfigs;
  readonly settings: PlacementSettings;
  /** The inspections of all images, when all are warm. */
  readonly known: readonly InspectedImage[] | undefined;
  /** False when the dead-man switch says that nobody would remove a gate. Warm admission stays. */
  readonly mayGate: boolean;
  readonly liveArchitectures?: readonly string[];
}

/** What the controller knows when it decides. */
export interface PlacementFacts {
  readonly pod: PodView;
  readonly configs: PlacementConfigs;
  readonly settings: PlacementSettings;
  /** One per image of `imagesToInspect`, failures included; empty when `needsInspection` is false. */
  readonly images: readonly InspectedImage[];
  /** How much of the longest gate age is used up (ms). */
  readonly gateAgeMs: number;
  /** Failed inspection rounds of this pod in this process, before this one. */
  readonly failedAttempts: number;
  /** 0..1: where in the jitter window the next attempt falls. */
  readonly jitter: number;
  /** What nodes offer or can create; undefined = not asked for. */
  readonly liveArchitectures?: readonly string[];
}
