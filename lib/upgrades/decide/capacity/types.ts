// The types of spare capacity: MachineSets that are cloned for the time of an upgrade, and their machines.
import type { Machine, MachineSet } from "../../../cluster/machines.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import type { CapacityState } from "../types/cluster.ts";

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
