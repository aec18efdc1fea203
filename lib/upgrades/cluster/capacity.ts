// Spare capacity on the cluster: what is read for it, and what is written.
import { ignoring, type KubeApi } from "../../k8s/api.ts";
import {
  type CapacityFacts,
  type CapacitySettings,
  type CloneRemoval,
  decideRemoval,
  decideReservation,
} from "../decide/capacity/reservation.ts";
import { cloneForSmoke } from "../decide/capacity/clones.ts";
import { MINUTE_MS } from "../../vocabulary/time.ts";
import type { CapacityLeft, CapacityState } from "../decide/types/cluster.ts";
import type { UpgradeFacts } from "../decide/types/observed.ts";
import type { ClusterReader } from "./cluster_reader.ts";
import { adviseDrains, applyDrains, drainSettingsOf } from "./drains.ts";
import { isConflict, isGoneOrReplaced } from "../../k8s/api_error.ts";
import { type KubeObject, Resource } from "../../k8s/types.ts";
import { MachineName } from "../names.ts";

export interface CapacityContext {
  readonly reader: ClusterReader;
  readonly facts: Pick<UpgradeFacts, "plan" | "config"> | undefined;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

export async function readCapacity(context: CapacityContext): Promise<CapacityState> {
  const reservation = decideReservation(await readFacts(context), settingsOf(context.facts));
  if (reservation.kind === "nothingToClone") {
    throw new Error(`Cannot get any MachineSets to scale: ${reservation.message}.`);
  }
  return reservation.state;
}

export async function reserveCapacity(api: KubeApi, context: CapacityContext): Promise<void> {
  const reservation = decideReservation(await readFacts(context), settingsOf(context.facts));
  if (reservation.kind === "state") await createMachineSets(api, reservation.create, context.signal);
}

export async function readCapacityLeft(context: CapacityContext): Promise<CapacityLeft> {
  const removal = await readRemoval(context.reader);
  if (removal.kind === "done") return { kind: "none" };
  if (removal.kind === "delete") {
    return { kind: "present", message: `to be deleted: ${removal.sets.map(({ name }) => name).join(", ")}` };
  }
  for (const advice of await adviseOn(removal.nodes, context)) {
    if (advice.kind === "draining" && advice.hasFailed) {
      return { kind: "drainTimedOut", node: advice.node, message: removal.message };
    }
  }
  return { kind: "present", message: removal.message };
}

/** Deletes the clones; with `help` also helps their nodes to drain, as far as the plan allows. */
export async function releaseCapacity(
  api: KubeApi,
  { drain, context }: { readonly drain: "help" | "none"; readonly context: CapacityContext },
): Promise<void> {
  const removal = await readRemoval(context.reader);
  if (removal.kind === "delete") await deleteMachineSets(api, removal.sets, context.signal);
  if (removal.kind !== "wait" || drain === "none") return;
  const advice = await adviseOn(removal.nodes, context);
  const actions = advice.flatMap((one) => one.kind === "draining" ? one.actions : []);
  const [refused] = await applyDrains(api, actions, context.signal);
  if (refused !== undefined) throw refused.error;
}

async function readRemoval(reader: ClusterReader): Promise<CloneRemoval> {
  const [machineSets, machines] = await Promise.all([reader.machineSets(), reader.temporaryMachines()]);
  return decideRemoval({ machineSets, machines });
}

async function readFacts({ reader, nowMs }: CapacityContext): Promise<CapacityFacts> {
  const [machineSets, nodes] = await Promise.all([reader.machineSets(), reader.nodes()]);
  // Only machines of clones count, and without a clone there are none.
  const machines = machineSets.some(({ isTemporary }) => isTemporary) ? await reader.temporaryMachines() : [];
  const readyNodes = new Set(nodes.filter(({ isReady }) => isReady).map(({ name }) => name));
  return { machineSets, machines, readyNodes, nowMs };
}

function settingsOf(facts: CapacityContext["facts"]): CapacitySettings {
  if (facts === undefined) throw new Error("Cannot plan capacity: there is no UpgradeConfig.");
  const { plan: { spec: { capacity } }, config: { scale } } = facts;
  return {
    extraPools: capacity.pools ?? scale.extraMachinePools,
    timeoutMs: (capacity.timeoutMinutes ?? scale.timeoutMinutes) * MINUTE_MS,
  };
}

/** Advises on these nodes, whoever cordoned them: their machines are being deleted, and their pods with them. */
async function adviseOn(
  names: readonly string[],
  { facts, nowMs, reader }: CapacityContext,
): ReturnType<typeof adviseDrains> {
  if (facts === undefined) return [];
  const nodes = (await reader.nodes()).filter(({ name }) => names.includes(name));
  const settings = drainSettingsOf(facts.plan.spec, facts.config);
  return await adviseDrains(nodes, { reader, settings, nowMs });
}

const { namespace } = MachineName;

async function createMachineSets(
  api: KubeApi,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  for (const object of objects) {
    await ignoring(isConflict, api.create(Resource.machineSets, object, { namespace, signal }));
  }
}

/** Ignores MachineSets that are gone, or that were created anew since they were read. */
async function deleteMachineSets(
  api: KubeApi,
  sets: readonly { readonly name: string; readonly uid: string }[],
  signal: AbortSignal,
): Promise<void> {
  for (const { name, uid } of sets) {
    await ignoring(isGoneOrReplaced, api.delete(Resource.machineSets, { namespace, name }, { uid, signal }));
  }
}

export async function createSmokeMachineSet(api: KubeApi, template: string, signal: AbortSignal): Promise<void> {
  const source = await api.get(Resource.machineSets, { namespace, name: template }, signal);
  await createMachineSets(api, [cloneForSmoke(source)], signal);
}

export async function deleteSmokeMachineSets(api: KubeApi, signal: AbortSignal): Promise<void> {
  const labelSelector = `${MachineName.smokeLabel}=true`;
  const { items } = await api.list(Resource.machineSets, { namespace, labelSelector }, signal);
  await deleteMachineSets(api, items.map(({ metadata: { name, uid = "" } }) => ({ name, uid })), signal);
}
