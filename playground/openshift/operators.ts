// The operators of the sample cluster, as a script: the cluster version operator follows its spec, moves the other
// operators and the control plane, and then the machine config operator moves the workers, node by node.
import { renderTime } from "../../lib/cluster/time.ts";
import type { Clock } from "../../lib/clock.ts";
import { objectAt, textAt } from "../../lib/json.ts";
import { Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { CLUSTER_VERSION_NAME, Upgrades } from "../../lib/upgrades/names.ts";
import type { Cluster } from "../cluster.ts";
import { createObject } from "../create_object.ts";
import { kindNamed } from "../kinds.ts";
import { waitFor } from "../store.ts";
import { patchObject } from "../update_object.ts";
import {
  OPERATORS,
  operatorStatus,
  type PoolName,
  POOLS,
  poolStatus,
  releaseStatus,
  sampleCluster,
  type SampleObject,
  samplePlan,
} from "./objects.ts";

export interface OperatorDeps {
  readonly cluster: Cluster;
  readonly clock: Pick<Clock, "nowMs">;
  /** Waits the pace: between two things that an operator does. */
  readonly pause: (signal: AbortSignal) => Promise<void>;
}

const MULTI = "Multi";

/** Everything but the plan. `image` names an image of the playground's registry. */
export async function createCluster(
  { cluster, clock }: Pick<OperatorDeps, "cluster" | "clock">,
  image: (repository: string) => string,
): Promise<void> {
  await create(cluster, { type: Resource.namespaces, object: { metadata: { name: Upgrades.namespace } } });
  for (const sample of sampleCluster({ at: renderTime(clock.nowMs()), image })) await create(cluster, sample);
}

export async function createPlan({ cluster, clock }: Pick<OperatorDeps, "cluster" | "clock">): Promise<void> {
  await create(cluster, { type: Resource.upgradeConfigs, object: samplePlan(renderTime(clock.nowMs())) });
}

/** Waits until the ClusterVersion requests several architectures, and moves the cluster there. Rejects when the signal aborts. */
export async function runOperators(deps: OperatorDeps, signal: AbortSignal): Promise<void> {
  const { cluster: { store }, cluster, clock, pause } = deps;
  await waitFor(store, () => isAsked(cluster), signal);
  const say = (state: "Partial" | "Completed"): void => {
    const status = releaseStatus(MULTI, { state, at: renderTime(clock.nowMs()) });
    writeStatus(cluster, { type: Resource.clusterVersions, name: CLUSTER_VERSION_NAME, status });
  };
  say("Partial");
  for (const name of OPERATORS) {
    await pause(signal);
    writeStatus(cluster, { type: Resource.clusterOperators, name, status: operatorStatus(MULTI) });
  }
  // All pools have their new configuration before the version counts as completed.
  for (const pool of ["master", "worker"] as const) writePool(cluster, pool, 0);
  await updatePool(deps, "master", signal);
  say("Completed");
  await updatePool(deps, "worker", signal);
}

function isAsked({ store }: Cluster): boolean {
  const spec = store.get(Resource.clusterVersions, CLUSTER_VERSION_NAME)?.spec;
  return textAt(objectAt(spec, "desiredUpdate"), "architecture") === MULTI;
}

async function updatePool({ cluster, pause }: OperatorDeps, pool: PoolName, signal: AbortSignal): Promise<void> {
  for (const [index, name] of POOLS[pool].entries()) {
    await changeNode(cluster, name, { state: "Working", unschedulable: true });
    await pause(signal);
    await changeNode(cluster, name, { state: "Done", unschedulable: null });
    writePool(cluster, pool, index + 1);
  }
}

function writePool(cluster: Cluster, pool: PoolName, updated: number): void {
  const status = poolStatus(pool, { architecture: MULTI, updated });
  writeStatus(cluster, { type: Resource.machineConfigPools, name: pool, status });
}

async function changeNode(
  cluster: Cluster,
  name: string,
  { state, unschedulable }: { readonly state: "Working" | "Done"; readonly unschedulable: true | null },
): Promise<void> {
  const metadata = { annotations: { "machineconfiguration.openshift.io/state": state } };
  const body = JSON.stringify({ metadata, spec: { unschedulable } });
  await patchObject(cluster, kindNamed("Node"), { patchKind: "merge", name, body });
}

async function create(cluster: Cluster, { type, object, status }: SampleObject): Promise<void> {
  const { namespace, name } = object.metadata;
  const isNode = type.plural === Resource.nodes.plural;
  await createObject(cluster, kindNamed(type.kind), { namespace, body: isNode ? { ...object, status } : object });
  if (status !== undefined && !isNode) writeStatus(cluster, { type, name, status });
}

interface Status {
  readonly type: ResourceType;
  readonly name: string;
  readonly status: Readonly<Record<string, unknown>>;
}

function writeStatus({ store }: Cluster, { type, name, status }: Status): void {
  const object = store.get(type, name);
  if (object !== undefined) store.put(type, { ...object, status: { ...objectAt(object, "status"), ...status } });
}
