// The sample cluster's operators as a script: it updates operators, then the nodes of the control plane, then workers.
import { parseAllDocuments } from "yaml";
import { renderTime } from "../../lib/vocabulary/time.ts";
import type { Clock } from "../../lib/clock.ts";
import { type JsonObject, listAt, objectAt, textAt } from "../../lib/json.ts";
import { Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { CLUSTER_VERSION_NAME, Upgrades } from "../../lib/upgrades/names.ts";
import { type Cluster, requireKubeObject } from "../cluster.ts";
import { createObject } from "../create_object.ts";
import { kindNamed } from "../kinds.ts";
import { waitFor } from "../store.ts";
import { patchObject } from "../update_object.ts";
import CLUSTER from "./cluster.yaml" with { type: "text" };
import { OPERATOR_VERSIONS, type PoolName, POOLS, poolStatus, releaseStatus, samplePlan } from "./objects.ts";

interface OperatorScriptDeps {
  readonly cluster: Cluster;
  readonly clock: Pick<Clock, "nowMs">;
  /** Waits between two actions of an operator. */
  readonly pause: (signal: AbortSignal) => Promise<void>;
}

export async function createCluster(
  { cluster, clock }: Pick<OperatorScriptDeps, "cluster" | "clock">,
  registryHost: string,
): Promise<void> {
  const filled = CLUSTER.replaceAll("REGISTRY/", `${registryHost}/`).replaceAll("NOW", renderTime(clock.nowMs()));
  for (const document of parseAllDocuments(filled)) {
    const body = requireKubeObject(document.toJS());
    const kind = kindNamed(body.kind ?? "");
    const object = await createObject(cluster, kind, { namespace: body.metadata.namespace, body });
    if (body.status !== undefined) cluster.store.put(kind, { ...object, status: body.status });
  }
}

export async function createPlan({ cluster, clock }: Pick<OperatorScriptDeps, "cluster" | "clock">): Promise<void> {
  const body = samplePlan(renderTime(clock.nowMs()));
  await createObject(cluster, kindNamed("UpgradeConfig"), { namespace: Upgrades.namespace, body });
}

/**
 * Waits until the ClusterVersion requests several architectures, and moves the cluster there. Rejects when the signal
 * aborts.
 */
export async function runOperators(deps: OperatorScriptDeps, signal: AbortSignal): Promise<void> {
  const { cluster: { store }, cluster, clock, pause } = deps;
  await waitFor(store, () => isMigrationRequested(cluster), signal);
  const version = store.get(Resource.clusterVersions, CLUSTER_VERSION_NAME);
  const [before] = listAt(objectAt(version, "status"), "history") ?? [];
  const say = (state: "Partial" | "Completed"): void => {
    const status = releaseStatus(state, { at: renderTime(clock.nowMs()), before });
    writeStatus(cluster, { type: Resource.clusterVersions, name: CLUSTER_VERSION_NAME, status });
  };
  say("Partial");
  for (const { metadata: { name } } of store.list(Resource.clusterOperators)) {
    await pause(signal);
    writeStatus(cluster, { type: Resource.clusterOperators, name, status: { versions: OPERATOR_VERSIONS } });
  }
  // All pools have their new configuration before the version counts as completed.
  for (const pool of ["master", "worker"] as const) writePool(cluster, pool, 0);
  await updatePool(deps, "master", signal);
  say("Completed");
  await updatePool(deps, "worker", signal);
}

function isMigrationRequested({ store }: Cluster): boolean {
  const spec = store.get(Resource.clusterVersions, CLUSTER_VERSION_NAME)?.spec;
  return textAt(objectAt(spec, "desiredUpdate"), "architecture") === "Multi";
}

async function updatePool({ cluster, pause }: OperatorScriptDeps, pool: PoolName, signal: AbortSignal): Promise<void> {
  for (const [index, name] of POOLS[pool].entries()) {
    await changeNode(cluster, name, { state: "Working", unschedulable: true });
    await pause(signal);
    await changeNode(cluster, name, { state: "Done", unschedulable: null });
    writePool(cluster, pool, index + 1);
  }
}

function writePool(cluster: Cluster, pool: PoolName, updated: number): void {
  writeStatus(cluster, { type: Resource.machineConfigPools, name: pool, status: poolStatus(pool, updated) });
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

interface Status {
  readonly type: ResourceType;
  readonly name: string;
  readonly status: JsonObject;
}

function writeStatus({ store }: Cluster, { type, name, status }: Status): void {
  const object = store.get(type, name);
  if (object !== undefined) store.put(type, { ...object, status: { ...objectAt(object, "status"), ...status } });
}
