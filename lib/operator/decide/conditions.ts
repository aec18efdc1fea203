// The conditions of a ClusterPodPlacementConfig from what was observed: the MTO's seven, and our own.
import { type Condition, nameSome, type NewCondition, setCondition, withTime } from "../../vocabulary/condition.ts";
import { NODE_ARCH_LABEL, SCHEDULING_GATE } from "../../names.ts";
import { assertNever } from "../../parsed.ts";
import type { WaitReason } from "./operand_step.ts";

/** One process does the work of the MTO's two Deployments: the leader's controllers, and every replica's webhook. */
export interface OperandObservation {
  readonly controllerAvailable: boolean;
  readonly controllerUpToDate: boolean;
  readonly webhookAvailable: boolean;
  readonly webhookUpToDate: boolean;
  readonly webhookConfigured: boolean;
  readonly deleting: boolean;
}

interface OperandState {
  readonly available: boolean;
  readonly progressing: boolean;
  /** Not available, and not being removed. */
  readonly degraded: boolean;
  readonly deprovisioning: boolean;
  /** Not available or not rolled out in full. */
  readonly controllerNotReady: boolean;
  readonly webhookNotReady: boolean;
  readonly webhookConfigurationMissing: boolean;
  readonly canDeployWebhook: boolean;
}

/** The exec format error monitor, while its plugin is on or it is being removed. */
export type MonitorState =
  /** `wanted`: how many daemons there should be. */
  | { readonly kind: "installed"; readonly ready: number; readonly wanted: number }
  | { readonly kind: "no-image" }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "leaving"; readonly pendingEvents: number };

export interface EarlierConditions {
  readonly earlier: readonly Condition[];
  readonly generation: number;
  /** Time of the API server (epoch ms). */
  readonly nowMs: number;
}

interface ConditionContext extends EarlierConditions {
  /** Pods that hold our gate; counted while leaving. */
  readonly gatedPods: number;
  readonly waiting: WaitReason | undefined;
  /** Why pods are not gated at the moment; undefined while they are. */
  readonly gatingStopped: string | undefined;
  readonly monitor: MonitorState | undefined;
  readonly unlabelledNodes: readonly string[];
}

export function deriveOperandState(seen: OperandObservation): OperandState {
  const { deleting } = seen;
  const available = seen.webhookConfigured && seen.webhookAvailable && seen.controllerAvailable;
  return {
    available,
    progressing: (!seen.controllerUpToDate || !seen.webhookUpToDate || !seen.webhookConfigured) && !deleting,
    degraded: !available && !deleting,
    deprovisioning: deleting,
    controllerNotReady: !seen.controllerAvailable || !seen.controllerUpToDate,
    webhookNotReady: !seen.webhookAvailable || !seen.webhookUpToDate,
    webhookConfigurationMissing: !seen.webhookConfigured,
    canDeployWebhook: seen.webhookAvailable && seen.controllerAvailable && !deleting,
  };
}

/** Our conditions in their order, with the earlier times of unchanged ones; then the conditions of other writers. */
export function renderConditions(
  seen: OperandObservation,
  options: ConditionContext,
): readonly Condition[] {
  const { earlier, monitor, generation, nowMs, unlabelledNodes } = options;
  const rows = [
    ...conditionRows(deriveOperandState(seen), options),
    ...monitor === undefined ? [] : [monitorRow(monitor)],
    ...unlabelledNodes.length === 0 ? [] : [nodesRow(unlabelledNodes)],
  ];
  const isOurs = (type: string): boolean =>
    type === MONITOR_TYPE || type === NODES_TYPE || rows.some(([own]) => own === type);
  return [
    ...rows.map((row) => withTime(conditionOf(row, generation), earlier, nowMs)),
    ...earlier.filter(({ type }) => !isOurs(type)),
  ];
}

/**
 * Written by a replica that does not lead: gating has stopped, and Available, which `kubectl get` shows, is withdrawn.
 */
export function renderLeaderlessConditions(reason: string, options: EarlierConditions): readonly Condition[] {
  const { earlier, generation, nowMs } = options;
  const withdrawn: Row = ["Available", false, reason, `${OPERAND} not ready. ${stoppedSentence(reason)}`];
  const wasSet = earlier.some(({ type }) => type === withdrawn[0]);
  const unavailable = wasSet ? setCondition(earlier, conditionOf(withdrawn, generation), nowMs) : earlier;
  return setCondition(unavailable, conditionOf(gatingRow(reason), generation), nowMs);
}

export const TAINT_CONDITION = "ArchitectureTaints";

export interface TaintCondition {
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message: string;
}

export function renderTaintCondition(
  { isTrue, reason, message }: TaintCondition,
  { earlier, generation, nowMs }: EarlierConditions,
): readonly Condition[] {
  return setCondition(earlier, conditionOf([TAINT_CONDITION, isTrue, reason, message], generation), nowMs);
}

function conditionOf([type, isTrue, reason, message]: Row, generation: number): NewCondition {
  return { type, status: isTrue ? "True" : "False", reason, message, observedGeneration: generation };
}

type Row = readonly [type: string, isTrue: boolean, reason: string, message: string];

const OPERAND = "The cluster pod placement config operand is";

function conditionRows(state: OperandState, context: ConditionContext): readonly Row[] {
  const { available, progressing, degraded, deprovisioning } = state;
  const reason = sharedReason(state);
  const verb = available ? "can" : "cannot";
  return [
    ["Available", available, reason, `${OPERAND} ${not(available)}ready. We ${verb} gate and reconcile pods.`],
    ["Progressing", progressing, reason, `${OPERAND} ${not(progressing)}progressing.`],
    ["Degraded", degraded, degraded ? "Degraded" : "NotDegraded", `${OPERAND} ${not(degraded)}degraded.`],
    [
      "Deprovisioning",
      deprovisioning,
      deprovisioning ? "Deprovisioning" : "NotDeprovisioning",
      `${OPERAND} ${not(deprovisioning)}being deprovisioned.${deprovisioning ? leavingSentence(context) : ""}`,
    ],
    [
      "PodPlacementControllerNotRolledOut",
      state.controllerNotReady,
      state.controllerNotReady ? "PodPlacementControllerNotReady" : "PodPlacementControllerReady",
      `The pod placement controller is ${not(!state.controllerNotReady)}fully rolled out.`,
    ],
    [
      "PodPlacementWebhookNotRolledOut",
      state.webhookNotReady,
      state.webhookNotReady ? "PodPlacementWebhookNotReady" : "PodPlacementWebhookReady",
      `The pod placement webhook is ${not(!state.webhookNotReady)}fully rolled out.`,
    ],
    [
      "MutatingWebhookConfigurationNotAvailable",
      state.webhookConfigurationMissing,
      reason,
      `The mutating webhook configuration is ${not(!state.webhookConfigurationMissing)}ready.`,
    ],
    gatingRow(context.gatingStopped),
  ];
}

function gatingRow(stopped: string | undefined): Row {
  return stopped === undefined
    ? ["GatingStopped", false, "Gating", "New pods are gated until their images are inspected."]
    : ["GatingStopped", true, stopped, stoppedSentence(stopped)];
}

const NO_LEADER =
  "No replica renews the Lease of Archway: look at its pods, their log, and their right to update leases.";

/** The cause, and where to look, for the reasons that the user can act on. */
const STOPPED: Readonly<Record<string, string>> = {
  NoLeader: NO_LEADER,
  LeaderSilent: NO_LEADER,
  LeaderImpaired:
    "The leader cannot list, watch or change pods: the annotation archway.dev/leader-impairment of its Lease " +
    "says what, and its rights may be missing.",
  ConfigUnread: "The configs cannot be read: look at the log of Archway's pods.",
};

function stoppedSentence(reason: string): string {
  const what = "New pods are not gated; pods whose images are known are still placed.";
  const why = STOPPED[reason];
  return why === undefined ? what : `${what} ${why}`;
}

const NODES_TYPE = "NodesWithoutArchitecture";

/** Nodes without the label are mostly virtual nodes, since a kubelet labels its own node. */
function nodesRow(names: readonly string[]): Row {
  const message =
    `No pod that Archway places goes to nodes without the label ${NODE_ARCH_LABEL}: ${nameSome(names)}. ` +
    `Label each: kubectl label node NAME ${NODE_ARCH_LABEL}=ARCHITECTURE`;
  return [NODES_TYPE, true, "LabelMissing", message];
}

const MONITOR_TYPE = "ExecFormatErrorMonitorNotAvailable";

function monitorRow(monitor: MonitorState): Row {
  switch (monitor.kind) {
    case "installed": {
      const { ready, wanted } = monitor;
      const isReady = wanted > 0 && ready >= wanted;
      const message = `${ready} of ${wanted} daemons watch their nodes for exec format errors.`;
      return [MONITOR_TYPE, !isReady, isReady ? "DaemonsReady" : "DaemonsNotReady", message];
    }
    case "no-image":
      return [MONITOR_TYPE, true, "ImageNotConfigured", "No daemon runs: --exec-format-image names no image."];
    case "refused":
      return [MONITOR_TYPE, true, "Refused", `The DaemonSet cannot be made: ${monitor.why}`];
    case "leaving": {
      const message = `The monitor is being removed; ${monitor.pendingEvents} ENoExecEvents are left.`;
      return [MONITOR_TYPE, true, "Leaving", message];
    }
    default:
      return assertNever(monitor);
  }
}

function leavingSentence({ waiting, gatedPods }: ConditionContext): string {
  if (waiting === "NamespaceConfigsExist") return " PodPlacementConfigs still exist; delete them first.";
  if (waiting === "NodesStillTainted") return " The architecture taints are being taken off the nodes.";
  const count = gatedPods > 0 ? ` (${gatedPods} left)` : "";
  return ` Some pods may still hold the scheduling gate ${SCHEDULING_GATE}; the controller is updating them${count}.`;
}

/** The names of everything that is not ready, joined as the MTO does. */
function sharedReason(state: OperandState): string {
  const reasons: readonly (readonly [boolean, string])[] = [
    [state.controllerNotReady, "PodPlacementControllerNotRolledOut"],
    [state.webhookNotReady, "PodPlacementWebhookNotRolledOut"],
    [state.webhookConfigurationMissing, "MutatingWebhookConfigurationNotAvailable"],
  ];
  return reasons.filter(([holds]) => holds).map(([, name]) => name).join(",") || "AllComponentsReady";
}

function not(holds: boolean): string {
  return holds ? "" : "not ";
}
