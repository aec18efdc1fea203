// What capacity reads of a MachineSet.
import { parseMachineSet } from "../../../cluster/machines.ts";
import { entryOf } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import { MachineName } from "../../names.ts";
import type { MachineSetView } from "./types.ts";

export function parseMachineSetView(object: KubeObject): MachineSetView {
  const set = parseMachineSet(object);
  return {
    ...set,
    pool: entryOf(set.labels, MachineName.poolLabel) ?? "",
    isTemporary: entryOf(set.labels, MachineName.upgradeLabel) === "true",
    isSmoke: entryOf(set.labels, MachineName.smokeLabel) === "true",
    object,
  };
}
