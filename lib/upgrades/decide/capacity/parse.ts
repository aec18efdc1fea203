// What capacity reads of MachineSets, and how far the machine is that is to prove a migration.
import { type Machine, type MachineSet, parseMachineSet } from "../../../cluster/machines.ts";
import { entryOf } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import { MachineName } from "../../names.ts";
import type { Node } from "../../../cluster/node.ts";
import type { CapacityState, SmokeState } from "../types/cluster.ts";

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

export interface MachineSetView extends MachineSet {
  /** The value of Hive's pool label; empty without one. */
  readonly pool: string;
  /** It is there for an upgrade alone. */
  readonly isTemporary: boolean;
  /** It is there to prove a migration. */
  readonly isSmoke: boolean;
  readonly object: KubeObject;
}

export interface CapacityFacts {
  readonly machineSets: readonly MachineSetView[];
  /** Those with the upgrade label. */
  readonly machines: readonly Machine[];
  readonly readyNodes: ReadonlySet<string>;
  readonly nowMs: number;
}

export interface CapacityPolicy {
  /** Further pools, as globs over their names. */
  readonly extraPools: readonly string[];
  /** How long a new MachineSet may take until its machines are ready (ms). */
  readonly timeoutMs: number;
}

/** The next step of reserving: the state, and the MachineSets that are to be created. */
export type ReservePlan =
  | { readonly kind: "state"; readonly state: CapacityState; readonly create: readonly KubeObject[] }
  /** Extra pools are configured, but neither they nor workers have a MachineSet. */
  | { readonly kind: "nothingToClone"; readonly message: string };

export type ReleasePlan =
  | { readonly kind: "delete"; readonly sets: readonly { readonly name: string; readonly uid: string }[] }
  /** Machines are left; the drains of these nodes may need help. */
  | { readonly kind: "wait"; readonly nodes: readonly string[]; readonly message: string }
  | { readonly kind: "done" };
