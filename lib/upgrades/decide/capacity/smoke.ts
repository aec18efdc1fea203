// The machine of another architecture that is started to prove a migration, and removed again.
import type { Machine } from "../../../cluster/machines.ts";
import type { Node } from "../../../cluster/node.ts";
import type { SmokeState } from "../types/cluster.ts";
import type { MachineSetView } from "./types.ts";

/** How far it is. `machines` are those with the smoke label, `nodes` all nodes. */
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
