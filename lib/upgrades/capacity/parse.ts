// JSON of MachineSets and Machines → what capacity reads of them.
import { entryOf, memberOf, objectAt, textAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";
import { MachineName } from "../../upgrade_names.ts";
import type { MachineSetView, MachineView } from "./types.ts";

/** Reads a MachineSet. */
export function parseMachineSet(object: KubeObject): MachineSetView {
  const { labels, name, uid = "", creationTimestamp = "", deletionTimestamp } = object.metadata;
  const status = objectAt(object, "status");
  return {
    name,
    uid,
    pool: entryOf(labels, MachineName.poolLabel) ?? "",
    isTemporary: entryOf(labels, MachineName.upgradeLabel) === "true",
    isSmoke: entryOf(labels, MachineName.smokeLabel) === "true",
    isLeaving: deletionTimestamp !== undefined,
    createdMs: Date.parse(creationTimestamp),
    replicas: countAt(status, "replicas"),
    readyReplicas: countAt(status, "readyReplicas"),
    object,
  };
}

/** Reads a Machine. */
export function parseMachine(object: KubeObject): MachineView {
  const status = objectAt(object, "status");
  const nodeName = textAt(objectAt(status, "nodeRef"), "name");
  return {
    name: object.metadata.name,
    machineSet: entryOf(object.metadata.labels, MachineName.machineSetLabel) ?? "",
    phase: textAt(status, "phase"),
    nodeName: nodeName === "" ? undefined : nodeName,
  };
}

function countAt(value: unknown, name: string): number {
  const count = memberOf(value, name);
  return typeof count === "number" ? count : 0;
}
