// Spare capacity during an upgrade: which MachineSets to clone, when the clones are ready, what to delete afterwards.
import { matchesGlob, parseGlob } from "../../../vocabulary/glob.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import { MachineName } from "../../names.ts";
import type { CapacityState } from "../types/cluster.ts";
import type { Machine } from "../../../vocabulary/machines.ts";
import { cloneForCapacity, cloneName } from "./clones.ts";
import type { MachineSetView } from "./machine_set_view.ts";

export function canScale({ machineSets }: Pick<CapacityFacts, "machineSets">): boolean {
  return machineSets.some(({ isTemporary, pool }) => !isTemporary && pool === MachineName.workerPool);
}

export function decideReservation(facts: CapacityFacts, settings: CapacitySettings): Reservation {
  if (!canScale(facts) && settings.extraPools.length === 0) return stateOf({ kind: "impossible" });
  const sources = sourcesOf(facts, settings);
  if (sources.length === 0) {
    const patterns = settings.extraPools.join(", ");
    const message = `no MachineSet is labelled ${MachineName.poolLabel}=${MachineName.workerPool}, ` +
      `and none is of a pool that matches ${patterns}`;
    return { kind: "nothingToClone", message };
  }
  const clones = new Map(temporaryOf(facts).map((set) => [set.name, set]));
  const missing = sources.filter(({ name }) => !clones.has(cloneName(name)));
  if (missing.length > 0) {
    const machineSets = missing.map(({ name }) => cloneName(name));
    return stateOf({ kind: "missing", machineSets }, missing.map(({ object }) => cloneForCapacity(object)));
  }
  return stateOf(readinessOf(sources.flatMap(({ name }) => clones.get(cloneName(name)) ?? []), { facts, settings }));
}

function stateOf(state: CapacityState, create: readonly KubeObject[] = []): Reservation {
  return { kind: "state", state, create };
}

function readinessOf(
  clones: readonly MachineSetView[],
  { facts, settings }: { readonly facts: CapacityFacts; readonly settings: CapacitySettings },
): CapacityState {
  const late = clones.map((set) => ({ set, reason: whyNotReady(set, facts) })).filter(({ reason }) => reason !== "");
  if (late.length === 0) return { kind: "ready" };
  const message = late.map(({ set, reason }) => `${set.name}: ${reason}`).join("; ");
  const isTimedOut = late.some(({ set }) => facts.nowMs > set.createdMs + settings.timeoutMs);
  return { kind: isTimedOut ? "timedOut" : "waiting", message };
}

/** The next step to remove all clones and their machines. */
export function decideRemoval(facts: Omit<CapacityFacts, "readyNodes" | "nowMs">): CloneRemoval {
  const staying = temporaryOf(facts).filter(({ isDeleting }) => !isDeleting);
  if (staying.length > 0) return { kind: "delete", sets: staying.map(({ name, uid }) => ({ name, uid })) };
  const { machines } = facts;
  const deleting = temporaryOf(facts).map(({ name }) => name);
  if (machines.length === 0 && deleting.length === 0) return { kind: "done" };
  const names = [...deleting, ...machines.map(({ name }) => name)].toSorted();
  return {
    kind: "wait",
    nodes: machines.filter(({ phase }) => phase === "Running" || phase === "Deleting")
      .flatMap(({ nodeName }) => nodeName === undefined ? [] : [nodeName]).toSorted(),
    message: `still there: ${names.join(", ")}`,
  };
}

/** What to clone, sorted by name: the workers' MachineSets, and those of extra pools by pattern. */
function sourcesOf({ machineSets }: CapacityFacts, { extraPools }: CapacitySettings): readonly MachineSetView[] {
  const globs = extraPools.map(parseGlob).filter((glob) => glob !== undefined);
  const isWanted = ({ pool }: MachineSetView): boolean =>
    pool === MachineName.workerPool || pool !== "" && globs.some((glob) => matchesGlob(glob, pool));
  return machineSets.filter((set) => !set.isTemporary && !set.isDeleting && isWanted(set))
    .toSorted((one, other) => one.name < other.name ? -1 : 1);
}

function temporaryOf({ machineSets }: Pick<CapacityFacts, "machineSets">): readonly MachineSetView[] {
  return machineSets.filter(({ isTemporary }) => isTemporary);
}

function whyNotReady(set: MachineSetView, { machines, readyNodes }: CapacityFacts): string {
  if (set.isDeleting) return "is being deleted";
  if (set.replicas === 0) return "has no machine yet";
  if (set.replicas !== set.readyReplicas) return `${set.readyReplicas} of ${set.replicas} machines ready`;
  const own = machines.filter(({ machineSet }) => machineSet === set.name);
  if (own.length === 0) return "has no machine yet";
  const unready = own.filter(({ nodeName }) => nodeName === undefined || !readyNodes.has(nodeName));
  return unready.length === 0 ? "" : `nodes not ready for ${unready.map(({ name }) => name).join(", ")}`;
}

export interface CapacityFacts {
  readonly machineSets: readonly MachineSetView[];
  readonly machines: readonly Machine[];
  readonly readyNodes: ReadonlySet<string>;
  readonly nowMs: number;
}

export interface CapacitySettings {
  readonly extraPools: readonly string[];
  readonly timeoutMs: number;
}

export type Reservation =
  | { readonly kind: "state"; readonly state: CapacityState; readonly create: readonly KubeObject[] }
  /** Extra pools are configured, but neither they nor workers have a MachineSet. */
  | { readonly kind: "nothingToClone"; readonly message: string };

export type CloneRemoval =
  | { readonly kind: "delete"; readonly sets: readonly { readonly name: string; readonly uid: string }[] }
  /** Machines are left; the drains of these nodes may need help. */
  | { readonly kind: "wait"; readonly nodes: readonly string[]; readonly message: string }
  | { readonly kind: "done" };
