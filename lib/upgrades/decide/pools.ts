// MachineConfigPools: which are being updated, and which are paused. Those are reported, but nothing waits for them.
// Nodes: who cordoned them.
import type { MachineConfigPool } from "../../vocabulary/machines.ts";
import type { NotReadyNode } from "./types/cluster.ts";
import type { Node } from "../../vocabulary/node.ts";
import type { Taint } from "../../vocabulary/taint.ts";
import { NodeKey } from "../names.ts";

interface PoolsSummary {
  readonly updating: readonly MachineConfigPool[];
  readonly paused: readonly string[];
  readonly degraded: readonly string[];
  readonly machines: number;
  readonly updatedMachines: number;
  readonly isDone: boolean;
}

/** Whether machines are still to be updated. Counts alone do not say so: they may be of the previous configuration. */
export function isPoolUpdating({ isUpdated, machineCount, updatedMachineCount }: MachineConfigPool): boolean {
  return machineCount > 0 && (updatedMachineCount < machineCount || !isUpdated);
}

export function summarizePools(pools: readonly MachineConfigPool[]): PoolsSummary {
  const sorted = pools.toSorted((one, other) => one.name < other.name ? -1 : 1);
  const counted = sorted.filter(({ isPaused }) => !isPaused);
  const updating = counted.filter(isPoolUpdating);
  const names = (some: readonly MachineConfigPool[]): readonly string[] => some.map(({ name }) => name);
  return {
    updating,
    paused: names(sorted.filter(({ isPaused }) => isPaused)),
    degraded: names(sorted.filter(({ isDegraded }) => isDegraded)),
    machines: sum(counted.map(({ machineCount }) => machineCount)),
    updatedMachines: sum(
      counted.map(({ machineCount, updatedMachineCount }) => Math.min(machineCount, updatedMachineCount)),
    ),
    isDone: updating.length === 0,
  };
}

export const CONTROL_PLANE_POOL = "master";

/** Clauses about what the control plane waits for: its own nodes, and any degraded pool. */
export function describeControlPlane(pools: readonly MachineConfigPool[]): readonly string[] {
  const late = pools.filter((pool) => pool.name === CONTROL_PLANE_POOL && isPoolUpdating(pool));
  const counts = late.map(({ name, isPaused, machineCount, updatedMachineCount }) =>
    `MachineConfigPool ${name}${isPaused ? " is paused" : ""}: ${updatedMachineCount} of ${machineCount} nodes updated`
  );
  return [...counts, ...describeTrouble(pools, [])];
}

/** Longest part of a message of the cluster that is repeated. */
const MAX_MESSAGE_CHARS = 300;
const MAX_NODES = 3;

/** Clauses about what keeps nodes from being updated: degraded pools, and nodes that are not Ready. */
export function describeTrouble(pools: readonly MachineConfigPool[], down: readonly NotReadyNode[]): readonly string[] {
  const degraded = pools.filter(({ isDegraded, isPaused }) => isDegraded && !isPaused);
  const more = down.length - MAX_NODES;
  return [
    ...degraded.map(({ name, degradedMessage }) =>
      `MachineConfigPool ${name} is degraded${inBrackets(degradedMessage)}`
    ),
    ...down.slice(0, MAX_NODES).map(({ name, message }) => `node ${name} is not Ready${inBrackets(message)}`),
    ...more > 0 ? [`${more} more nodes are not Ready`] : [],
  ];
}

function inBrackets(message: string): string {
  if (message === "") return "";
  const isLong = message.length > MAX_MESSAGE_CHARS;
  return ` (${isLong ? `${message.slice(0, MAX_MESSAGE_CHARS)}…` : message})`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

export function isMaster({ labels }: Node): boolean {
  return Object.hasOwn(labels, NodeKey.masterLabel);
}

export function isPlainWorker({ labels }: Node): boolean {
  return Object.hasOwn(labels, NodeKey.workerLabel) && !Object.hasOwn(labels, NodeKey.infraLabel);
}

type Cordon =
  | { readonly kind: "none" }
  | { readonly kind: "since"; readonly sinceMs: number }
  /** `spec.unschedulable` without a taint, or a taint without a time. */
  | { readonly kind: "unknownTime" };

export function cordonOf(node: Node): Cordon {
  if (node.isSchedulable) return { kind: "none" };
  const sinceMs = noScheduleTaints(node).find(({ key }) => key === NodeKey.unschedulableTaint)?.addedMs;
  return sinceMs === undefined ? { kind: "unknownTime" } : { kind: "since", sinceMs };
}

export function pressuresOf(node: Node): readonly string[] {
  const keys = noScheduleTaints(node).map(({ key }) => key);
  return ["memory", "disk", "pid"].filter((what) => keys.includes(`node.kubernetes.io/${what}-pressure`));
}

export function isWorkedOn({ annotations }: Node): boolean {
  return annotations[NodeKey.configState] === "Working";
}

/** Whether the machine config operator cordoned the node: it is updating it, or a long drain made it `Degraded`. */
export function isUnderConfiguration(node: Node): boolean {
  const { annotations } = node;
  const hasConfigAhead = annotations[NodeKey.desiredConfig] !== annotations[NodeKey.currentConfig];
  return isWorkedOn(node) || (annotations[NodeKey.configState] === "Degraded" && hasConfigAhead);
}

function noScheduleTaints({ taints }: Node): readonly Taint[] {
  return taints.filter(({ effect }) => effect === "NoSchedule");
}
