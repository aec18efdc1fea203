// The next step in the lifecycle of the operand: facts in, one step out, until that is `done` or `wait`. Pure.
//
// | state        | when                                 | what happens, in this order                                      |
// |--------------|--------------------------------------|------------------------------------------------------------------|
// | uninstalling | Archway's own account is being deleted | webhook, gates (by force), architecture taints, all finalizers   |
// | absent       | no config                            | webhook away, gates (by force after the maximum gate age), uninstall finalizers |
// | deleting     | the config is being deleted          | wait for namespace configs, webhook, gates, taints, finalizers   |
// | present      | otherwise                            | all finalizers, then the webhook while a replica can serve       |
//
// The exec format error monitor comes after all else of a config that is present, and goes before all else of one that is
// being deleted: first its DaemonSet, then the events, which the leader works off, then its finalizers, on Archway's own
// Deployment and on the config. No wait is for ever.
//
// The uninstall finalizers are on the account, the role and the binding that leaving needs: rights that are deleted first would
// strand all else.
import { Finalizer } from "../names.ts";
import { unreachable } from "../unreachable.ts";
import type { OperandConfig } from "./config_view.ts";

/** One of the finalizers Archway keeps on the cluster config. */
export type OperandFinalizer = typeof Finalizer[keyof typeof Finalizer];

/** Archway's own account and role. */
export type InstallationState =
  /** Not installed by the manifests, or not ours to change: there is nothing to keep. */
  | "foreign"
  /** Without our finalizer, and with it. */
  | "free"
  | "held"
  /** Being deleted. */
  | "uninstalling"
  /** We have left, and taken the finalizers off. */
  | "left";

/** Whether Archway's own Deployment is kept while there are events to handle. */
export type HandlerState =
  /** There is none, or it is not ours to change. */
  | "foreign"
  /** Without our finalizer, and with it. */
  | "free"
  | "held"
  /** With it, and being deleted. */
  | "leaving";

/** The exec format error monitor: its DaemonSet, and the ENoExecEvents that were not worked off. */
export interface MonitorFacts {
  /** `refused`: it was to be made lately, and the API server refused; `unread`: not read. */
  readonly daemonSet: "absent" | "current" | "drifted" | "leaving" | "refused" | "unread";
  /** Whether it is known what image the daemon runs. */
  readonly hasImage: boolean;
  /** Events that carry the error label, and records of images: nothing will come of them any more. */
  readonly settledEvents: number;
  /** The other events. */
  readonly pendingEvents: number;
  /** Archway's own Deployment, whose leader handles the events. */
  readonly handler: HandlerState;
  /** How long the monitor has been on its way out (ms). */
  readonly leavingForMs: number;
  /** All events were deleted, whatever became of them. */
  readonly isForced: boolean;
}

/** Everything the next step depends on. */
export interface OperandFacts {
  /** undefined when there is no ClusterPodPlacementConfig. */
  readonly config: OperandConfig | undefined;
  readonly installation: InstallationState;
  /** Whether any PodPlacementConfig exists. */
  readonly hasNamespaceConfigs: boolean;
  /** The live webhook configuration compared with the desired one. */
  readonly webhook: "absent" | "current" | "drifted";
  /** How long no replica could answer admissions (ms); 0 while one can. */
  readonly unservedForMs: number;
  /** Pods holding our gate; counted only while leaving. */
  readonly gatedPods: number;
  /** How long the config has been leaving or gone (ms). */
  readonly leavingForMs: number;
  /** Longest a pod may stay gated (ms). */
  readonly maxGateAgeMs: number;
  readonly monitor: MonitorFacts;
  /** Whether nodes may still carry architecture taints that Archway keeps; `none` where it keeps none. */
  readonly taints: "none" | "carried";
  /** Attempts to lift all gates by force since the config began to leave, and the time since the last one (ms). */
  readonly forced: { readonly attempts: number; readonly agoMs: number };
}

/** Why there is nothing to do but wait. */
export type WaitReason =
  | "NamespaceConfigsExist"
  | "PodsStillGated"
  | "NoReplicaServes"
  | "NodesStillTainted"
  | "DaemonSetLeaving"
  | "EventsPending";

/** The answer. After `apply` or `remove` the facts are gathered again. */
export type OperandStep =
  | { readonly kind: "apply"; readonly target: "webhook" }
  | { readonly kind: "apply"; readonly target: "uninstallFinalizers" }
  | { readonly kind: "apply"; readonly target: "finalizer"; readonly finalizer: OperandFinalizer }
  | { readonly kind: "remove"; readonly target: "webhook"; readonly reason: "NotWanted" | "NoReplicaServes" }
  /** Lift all gates by force: these pods were not placed in time. */
  | { readonly kind: "remove"; readonly target: "gates" }
  /** The architecture taints of all nodes. */
  | { readonly kind: "remove"; readonly target: "taints" }
  | { readonly kind: "remove"; readonly target: "finalizer"; readonly finalizer: OperandFinalizer }
  | { readonly kind: "remove"; readonly target: "uninstallFinalizers" }
  /** The DaemonSet of the exec format error monitor. */
  | { readonly kind: "apply"; readonly target: "monitor" }
  | { readonly kind: "remove"; readonly target: "monitor" }
  /** The finalizer on Archway's own Deployment. */
  | { readonly kind: "apply"; readonly target: "handler" }
  | { readonly kind: "remove"; readonly target: "handler" }
  /** ENoExecEvents: those from which nothing will come, or all. */
  | { readonly kind: "remove"; readonly target: "events"; readonly which: "settled" | "all" }
  | { readonly kind: "wait"; readonly reason: WaitReason; readonly retryMs: number }
  | { readonly kind: "done" };

/** A rule: the step when it applies, undefined when the next rule is to be tried. */
type Rule = (facts: OperandFacts) => OperandStep | undefined;

/** A new leader needs a moment until it serves; the webhook of its predecessor stays that long (ms). */
export const UNSERVED_GRACE_MS = 30_000;

/** Gates that so many attempts over so many maximum gate ages could not lift no longer hold the config back. */
export const ABANDON_AFTER = { attempts: 5, gateAges: 5 } as const;

/** Longest that the monitor is waited for on its way out, its DaemonSet and then its events (ms). */
export const MONITOR_DRAIN_MS = 60_000;

/** Longest that the controller of the taints is waited for (ms): 5 000 nodes take nine minutes. It goes on after that. */
export const UNTAINT_MS = 15 * 60_000;

const RETRY_MS = 1_000;

const reconcilePresent: readonly Rule[] = [
  (facts) => addUnlessThere(facts, Finalizer.podPlacement),
  (facts) => facts.hasNamespaceConfigs ? addUnlessThere(facts, Finalizer.noPodPlacementConfig) : undefined,
  (facts) => facts.hasNamespaceConfigs ? undefined : dropIfThere(facts, Finalizer.noPodPlacementConfig),
  ({ installation }) => installation === "free" ? { kind: "apply", target: "uninstallFinalizers" } : undefined,
  ({ unservedForMs, webhook }) =>
    unservedForMs === 0 && webhook !== "current" ? { kind: "apply", target: "webhook" } : undefined,
  ({ unservedForMs, webhook }) =>
    unservedForMs >= UNSERVED_GRACE_MS && webhook !== "absent" ? removeWebhook("NoReplicaServes") : undefined,
  (facts) => facts.config?.enoexecEnabled === true ? installMonitor(facts) : removeMonitor(facts),
  ({ unservedForMs }) => unservedForMs > 0 ? wait("NoReplicaServes") : undefined,
];

/** Webhook first, so that no new gate appears; then the gates. */
const removeWebhookAndGates: readonly Rule[] = [
  ({ webhook }) => webhook === "absent" ? undefined : removeWebhook("NotWanted"),
  (facts) => facts.gatedPods === 0 || isAbandoned(facts) ? undefined : awaitOrForceGates(facts),
];

const reconcileDeleting: readonly Rule[] = [
  (facts) =>
    facts.hasNamespaceConfigs && has(facts, Finalizer.noPodPlacementConfig) ? wait("NamespaceConfigsExist") : undefined,
  (facts) => dropIfThere(facts, Finalizer.noPodPlacementConfig),
  removeMonitor,
  ...removeWebhookAndGates,
  awaitTaints,
  (facts) => dropIfThere(facts, Finalizer.podPlacement),
];

const reconcileAbsent: readonly Rule[] = [
  ...removeWebhookAndGates,
  releaseHandler,
  (facts) =>
    facts.installation === "held" ? awaitTaints(facts) ?? { kind: "remove", target: "uninstallFinalizers" } : undefined,
];

/** Nothing is waited for: this process and its rights last only for moments. */
const reconcileUninstalling: readonly Rule[] = [
  ({ webhook }) => webhook === "absent" ? undefined : removeWebhook("NotWanted"),
  ({ gatedPods, forced }) =>
    gatedPods > 0 && forced.attempts < ABANDON_AFTER.attempts ? { kind: "remove", target: "gates" } : undefined,
  ({ taints }) => taints === "carried" ? { kind: "remove", target: "taints" } : undefined,
  (facts) =>
    has(facts, Finalizer.enoexecEvents) && facts.monitor.daemonSet === "current"
      ? { kind: "remove", target: "monitor" }
      : undefined,
  ...Object.values(Finalizer).map((finalizer): Rule => (facts) => dropIfThere(facts, finalizer)),
  releaseHandler,
  () => ({ kind: "remove", target: "uninstallFinalizers" }),
];

/** The finalizers before what they protect. A Deployment that is deleted is not kept from being created again. */
function installMonitor(facts: OperandFacts): OperandStep | undefined {
  const { daemonSet, handler, hasImage } = facts.monitor;
  const isDue = hasImage && (daemonSet === "absent" || daemonSet === "drifted");
  return addUnlessThere(facts, Finalizer.enoexecEvents) ??
    (handler === "free" ? { kind: "apply", target: "handler" } : undefined) ??
    (handler === "leaving" ? { kind: "remove", target: "handler" } : undefined) ??
    (isDue ? { kind: "apply", target: "monitor" } : undefined);
}

/** The writers of events first; what they wrote is worked off, for a while. The finalizer may as well be the MTO's. */
function removeMonitor(facts: OperandFacts): OperandStep | undefined {
  if (!has(facts, Finalizer.enoexecEvents)) return releaseHandler(facts);
  const { daemonSet, settledEvents, pendingEvents, leavingForMs, isForced } = facts.monitor;
  const mayWait = leavingForMs < MONITOR_DRAIN_MS;
  if (daemonSet === "current" || daemonSet === "drifted") return { kind: "remove", target: "monitor" };
  if (daemonSet === "leaving" && mayWait) return wait("DaemonSetLeaving");
  if (settledEvents > 0 && !isForced) return { kind: "remove", target: "events", which: "settled" };
  if (pendingEvents > 0 && mayWait) return wait("EventsPending");
  if (pendingEvents > 0 && !isForced) return { kind: "remove", target: "events", which: "all" };
  return releaseHandler(facts) ?? dropIfThere(facts, Finalizer.enoexecEvents);
}

function releaseHandler({ monitor: { handler } }: OperandFacts): OperandStep | undefined {
  return handler === "held" || handler === "leaving" ? { kind: "remove", target: "handler" } : undefined;
}

/** Where pods get no tolerations, a node that keeps its taint takes no new pod. */
function awaitTaints({ taints, leavingForMs }: OperandFacts): OperandStep | undefined {
  return taints === "carried" && leavingForMs < UNTAINT_MS ? wait("NodesStillTainted") : undefined;
}

/** Decides the next step: the first rule of the state that applies. */
export function decideOperandStep(facts: OperandFacts): OperandStep {
  for (const rule of rulesOf(facts)) {
    const step = rule(facts);
    if (step !== undefined) return step;
  }
  return { kind: "done" };
}

function rulesOf(facts: OperandFacts): readonly Rule[] {
  const state = stateOf(facts);
  switch (state) {
    case "uninstalling":
      return reconcileUninstalling;
    case "absent":
      return reconcileAbsent;
    case "deleting":
      return reconcileDeleting;
    case "present":
      return reconcilePresent;
    case "left":
      return [];
    default:
      return unreachable(state);
  }
}

function stateOf(
  { installation, config }: OperandFacts,
): "uninstalling" | "left" | "absent" | "deleting" | "present" {
  if (installation === "uninstalling" || installation === "left") return installation;
  if (config === undefined) return "absent";
  return config.deletingSinceMs === undefined ? "present" : "deleting";
}

function awaitOrForceGates({ leavingForMs, maxGateAgeMs, forced }: OperandFacts): OperandStep {
  if (leavingForMs < maxGateAgeMs) return wait("PodsStillGated", Math.min(RETRY_MS, maxGateAgeMs - leavingForMs));
  return forced.attempts > 0 && forced.agoMs < RETRY_MS
    ? wait("PodsStillGated", RETRY_MS - forced.agoMs)
    : { kind: "remove", target: "gates" };
}

function isAbandoned({ leavingForMs, maxGateAgeMs, forced }: OperandFacts): boolean {
  return forced.attempts >= ABANDON_AFTER.attempts && leavingForMs >= maxGateAgeMs * ABANDON_AFTER.gateAges;
}

function has({ config }: OperandFacts, finalizer: OperandFinalizer): boolean {
  return config?.finalizers.includes(finalizer) ?? false;
}

function addUnlessThere(facts: OperandFacts, finalizer: OperandFinalizer): OperandStep | undefined {
  return has(facts, finalizer) ? undefined : { kind: "apply", target: "finalizer", finalizer };
}

function dropIfThere(facts: OperandFacts, finalizer: OperandFinalizer): OperandStep | undefined {
  return has(facts, finalizer) ? { kind: "remove", target: "finalizer", finalizer } : undefined;
}

function removeWebhook(reason: "NotWanted" | "NoReplicaServes"): OperandStep {
  return { kind: "remove", target: "webhook", reason };
}

function wait(reason: WaitReason, retryMs: number = RETRY_MS): OperandStep {
  return { kind: "wait", reason, retryMs };
}
