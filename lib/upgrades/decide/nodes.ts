// What upgrades read of a node: its role, its cordon, pressure, what the machine config operator does with it.
import type { Node } from "../../cluster/node.ts";
import type { Taint } from "../../cluster/taint.ts";
import { NodeMark } from "../names.ts";

export function isMaster({ labels }: Node): boolean {
  return Object.hasOwn(labels, NodeMark.masterLabel);
}

export function isPlainWorker({ labels }: Node): boolean {
  return Object.hasOwn(labels, NodeMark.workerLabel) && !Object.hasOwn(labels, NodeMark.infraLabel);
}

export type Cordon =
  | { readonly kind: "none" }
  /** Its taint has the time. */
  | { readonly kind: "since"; readonly sinceMs: number }
  /** `spec.unschedulable` without a taint, or a taint without a time. */
  | { readonly kind: "unknownTime" };

export function cordonOf(node: Node): Cordon {
  if (node.isSchedulable) return { kind: "none" };
  const sinceMs = noScheduleTaints(node).find(({ key }) => key === NodeMark.unschedulableTaint)?.addedMs;
  return sinceMs === undefined ? { kind: "unknownTime" } : { kind: "since", sinceMs };
}

export function pressuresOf(node: Node): readonly string[] {
  const keys = noScheduleTaints(node).map(({ key }) => key);
  return ["memory", "disk", "pid"].filter((what) => keys.includes(`node.kubernetes.io/${what}-pressure`));
}

/** Cordoned by a person: the machine config operator is not at work on it. */
export function isManuallyCordoned(node: Node): boolean {
  return !node.isSchedulable && !isWorkedOn(node);
}

export function isWorkedOn({ annotations }: Node): boolean {
  return annotations[NodeMark.configState] === "Working";
}

/**
 * Whether the machine config operator is at work on it, or has failed at that: a node whose drain takes longer than an hour is
 * `Degraded` and still being drained. Where this does not hold, who cordoned the node was somebody else.
 */
export function isUnderConfiguration(node: Node): boolean {
  const { annotations } = node;
  const hasConfigAhead = annotations[NodeMark.desiredConfig] !== annotations[NodeMark.currentConfig];
  return isWorkedOn(node) || (annotations[NodeMark.configState] === "Degraded" && hasConfigAhead);
}

function noScheduleTaints({ taints }: Node): readonly Taint[] {
  return taints.filter(({ effect }) => effect === "NoSchedule");
}
