// A MachineSet as the decisions about capacity read it: its pool, and whether it is one of Archway's clones.
import { entryOf } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import { type MachineSet, parseMachineSet } from "../../../vocabulary/machines.ts";
import { MachineName } from "../../names.ts";

export interface MachineSetView extends MachineSet {
  readonly pool: string;
  readonly isTemporary: boolean;
  readonly isSmoke: boolean;
  readonly object: KubeObject;
}

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
