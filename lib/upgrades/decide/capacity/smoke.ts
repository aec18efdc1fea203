// What has become of the first node of another architecture, which a migration creates before it goes on.
import type { Machine } from "../../../vocabulary/machines.ts";
import type { Node } from "../../../vocabulary/node.ts";
import type { SmokeState } from "../types/cluster.ts";
import type { MachineSetView } from "./machine_set_view.ts";

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
