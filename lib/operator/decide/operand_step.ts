// What the lifecycle of the operand is decided from, and the steps that it may take.
import type { Finalizer } from "../../names.ts";
import type { OperandConfig } from "./config_view.ts";

export type OperandFinalizer = typeof Finalizer[keyof typeof Finalizer];

/** Archway's own account; the role and its binding go with it. */
export type InstallationState =
  /** Not installed by the manifests, or not ours to change: there is nothing to keep. */
  | "foreign"
  | "withoutFinalizer"
  | "withFinalizer"
  | "uninstalling"
  /** We have left, and taken the finalizers off. */
  | "left";

/** Whether Archway's own Deployment is kept while there are events to handle. */
export type OwnDeploymentState =
  /** There is none, or it is not ours to change. */
  | "foreign"
  | "withoutFinalizer"
  | "withFinalizer"
  /** It has the finalizer and is being deleted. */
  | "deleting";

/** The exec format error monitor: its DaemonSet, and the ENoExecEvents that are left. */
export interface MonitorFacts {
  /** `refused`: the API server lately refused to create it; `unread`: not read. */
  readonly daemonSet: "absent" | "current" | "drifted" | "deleting" | "refused" | "unread";
  readonly hasImage: boolean;
  /** Events that carry the error label, and records of images: these need no more handling. */
  readonly handledEvents: number;
  readonly pendingEvents: number;
  readonly ownDeployment: OwnDeploymentState;
  readonly leavingForMs: number;
  /** All events were deleted already, handled or not. */
  readonly isForced: boolean;
}

export interface OperandFacts {
  readonly config: OperandConfig | undefined;
  readonly installation: InstallationState;
  readonly hasNamespaceConfigs: boolean;
  /** The live webhook configuration compared with the desired one. */
  readonly webhook: "absent" | "current" | "drifted";
  /** How long no replica could answer admissions (ms); 0 while one can. */
  readonly unservedForMs: number;
  /** Pods holding our gate; counted only while leaving. */
  readonly gatedPods: number;
  readonly leavingForMs: number;
  readonly maxGateAgeMs: number;
  readonly monitor: MonitorFacts;
  /** Whether nodes may still carry architecture taints that Archway keeps; `none` where it keeps none. */
  readonly taints: "none" | "carried";
  /** Attempts to ungate all pods by force since the config began to leave, and the time since the last one (ms). */
  readonly forced: { readonly attempts: number; readonly agoMs: number };
}

export type WaitReason =
  | "NamespaceConfigsExist"
  | "PodsStillGated"
  | "NoReplicaServes"
  | "NodesStillTainted"
  | "DaemonSetLeaving"
  | "EventsPending";

/** What to do next. After `apply` or `remove` the facts are gathered again. */
export type OperandStep =
  | { readonly kind: "apply"; readonly target: "webhook" }
  | { readonly kind: "remove"; readonly target: "webhook"; readonly reason: "NotWanted" | "NoReplicaServes" }
  | { readonly kind: "apply" | "remove"; readonly target: "finalizer"; readonly finalizer: OperandFinalizer }
  | { readonly kind: "apply" | "remove"; readonly target: "uninstallFinalizers" }
  | { readonly kind: "apply" | "remove"; readonly target: "monitor" }
  | { readonly kind: "apply" | "remove"; readonly target: "ownDeployment" }
  /** Ungate all pods by force: they were not placed in time. */
  | { readonly kind: "remove"; readonly target: "gates" }
  | { readonly kind: "remove"; readonly target: "taints" }
  /** ENoExecEvents: those that need no more handling, or all. */
  | { readonly kind: "remove"; readonly target: "events"; readonly which: "handled" | "all" }
  | { readonly kind: "wait"; readonly reason: WaitReason; readonly retryMs: number }
  | { readonly kind: "done" };
