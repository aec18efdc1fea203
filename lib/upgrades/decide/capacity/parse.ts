// What capacity reads of MachineSets, and how far the machine is that is to prove a migration.
import { type Machine, parseMachineSet } from "../../../cluster/machines.ts";
import { entryOf } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import { MachineName } from "../../names.ts";
import type { MachineSetView } from "./types.ts";
import type { Node } from "../../../cluster/node.ts";
import type { SmokeState } from "../types/cluster.ts";

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

export function smokeStateOf(
  { machineSets, machines, nodes }: {
    readonly machineSets: readonly MachineSetView[];
    readonly machines: readonly Machine[];
    readonly nodes: readonly Node[];
  },
): SmokeState {
  const set = machineSets.find(({ isSmoke, isDeleting }) => isSmoke && !isDeleting);
  if (set === undefined) return { kind: "absent" };
  const own = machines.find(({ machineSet }) => machineSet === set.name);
  const node = nodes.find(({ name }) => name === own?.nodeName);
  if (node?.isReady === true) return { kind: "ready", node: node.name, architecture: node.architecture };
  const message = own === undefined
    ? `${set.name} has no machine yet`
    : node === undefined
    ? `${own.name} has no node yet`
    : `${node.name} is not ready`;
  return { kind: "waiting", sinceMs: set.createdMs, message };
}
