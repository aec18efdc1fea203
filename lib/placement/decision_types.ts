// What is decided about a pod: the webhook's verdict, the controller's decision, and the record of it on the pod. Made by
// gate.ts and decide.ts.
import type { InspectionFailure } from "../oci/types.ts";
import type { PreferencePlan, RequiredPlan, TolerationPlan } from "./plan_types.ts";

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
