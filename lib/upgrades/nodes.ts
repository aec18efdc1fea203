// Nodes as upgrades read them: roles, cordon, pressure, what the machine config operator does with them.
import { entryOf, listAt, memberOf, objectAt, textAt } from "../json.ts";
import type { KubeObject } from "../k8s/types.ts";
import { NODE_ARCH_LABEL } from "../names.ts";
import { NodeMark } from "../upgrade_names.ts";

/** What a node may be short of, as its taint says. */
export const PRESSURES = ["memory", "disk", "pid"] as const;

/** One of {@link PRESSURES}. */
export type Pressure = typeof PRESSURES[number];

/** A node. */
export interface NodeView {
  readonly name: string;
  readonly isMaster: boolean;
  readonly isWorker: boolean;
  readonly isInfra: boolean;
  readonly isReady: boolean;
  /** The message of its condition `Ready`. */
  readonly readyMessage: string;
  readonly isLeaving: boolean;
  readonly cordon: Cordon;
  readonly pressures: readonly Pressure[];
  /** The state that the machine config operator gives it; empty without one. */
  readonly configState: string;
  /** Whether the machine config operator leads it to another config than it has. */
  readonly hasConfigAhead: boolean;
  readonly architecture: string;
}

/** Whether a node takes no pods, and since when. */
export type Cordon =
  | { readonly kind: "none" }
  /** Its taint has the time. */
  | { readonly kind: "since"; readonly sinceMs: number }
  /** `spec.unschedulable` without a taint, or a taint without a time. */
  | { readonly kind: "unknownTime" };

/** Reads a node. */
export function parseNode(object: KubeObject): NodeView {
  const { labels, annotations, name, deletionTimestamp } = object.metadata;
  const [spec, status] = [objectAt(object, "spec"), objectAt(object, "status")];
  const has = (label: string): boolean => entryOf(labels, label) !== undefined;
  const ready = (listAt(status, "conditions") ?? []).find((condition) => textAt(condition, "type") === "Ready");
  return {
    name,
    isMaster: has(NodeMark.masterLabel),
    isWorker: has(NodeMark.workerLabel),
    isInfra: has(NodeMark.infraLabel),
    isReady: textAt(ready, "status") === "True",
    readyMessage: textAt(ready, "message"),
    isLeaving: deletionTimestamp !== undefined,
    cordon: cordonOf(spec),
    pressures: PRESSURES.filter((pressure) =>
      noScheduleTaints(spec).some((taint) => textAt(taint, "key") === `node.kubernetes.io/${pressure}-pressure`)
    ),
    configState: entryOf(annotations, NodeMark.configState) ?? "",
    hasConfigAhead: entryOf(annotations, NodeMark.desiredConfig) !== entryOf(annotations, NodeMark.currentConfig),
    architecture: entryOf(labels, NODE_ARCH_LABEL) ?? "",
  };
}

/** Cordoned by a person: the machine config operator is not at work on it. */
export function isManuallyCordoned({ cordon, configState }: NodeView): boolean {
  return cordon.kind !== "none" && configState !== "Working";
}

/**
 * Whether the machine config operator is at work on it, or has failed at that: a node whose drain takes longer than an hour is
 * `Degraded` and still being drained. Where this does not hold, who cordoned the node was somebody else.
 */
export function isUnderConfiguration({ configState, hasConfigAhead }: NodeView): boolean {
  return configState === "Working" || (configState === "Degraded" && hasConfigAhead);
}

function cordonOf(spec: unknown): Cordon {
  if (memberOf(spec, "unschedulable") !== true) return { kind: "none" };
  const taint = noScheduleTaints(spec).find((one) => textAt(one, "key") === NodeMark.unschedulableTaint);
  const sinceMs = Date.parse(textAt(taint, "timeAdded"));
  return Number.isNaN(sinceMs) ? { kind: "unknownTime" } : { kind: "since", sinceMs };
}

function noScheduleTaints(spec: unknown): readonly unknown[] {
  return (listAt(spec, "taints") ?? []).filter((taint) => textAt(taint, "effect") === "NoSchedule");
}
