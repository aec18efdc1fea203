// The operators of the sample cluster, as a script: the cluster version operator follows its spec, moves the other
// operators and the control plane, and then the machine config operator moves the workers, node by node.
import { renderTime } from "../../lib/cluster/time.ts";
import type { Clock } from "../../lib/clock.ts";
import { objectAt, textAt } from "../../lib/json.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import { apiVersionOf, type KubeObject, Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { CLUSTER_VERSION_NAME, Upgrades } from "../../lib/upgrades/names.ts";
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
  readonly api: KubeApi;
  readonly clock: Pick<Clock, "nowMs">;
  /** Waits the pace: between two things that an operator does. */
  readonly pause: (signal: AbortSignal) => Promise<void>;
}

const MULTI = "Multi";

export async function createCluster(
  { api, clock }: Pick<OperatorDeps, "api" | "clock">,
  { image, signal }: { readonly image: (repository: string) => string; readonly signal: AbortSignal },
): Promise<void> {
  await create(api, { type: Resource.namespaces, object: { metadata: { name: Upgrades.namespace } } }, signal);
  for (const sample of sampleCluster({ at: renderTime(clock.nowMs()), image })) await create(api, sample, signal);
}

export async function createPlan(
  { api, clock }: Pick<OperatorDeps, "api" | "clock">,
  signal: AbortSignal,
): Promise<void> {
  await create(api, { type: Resource.upgradeConfigs, object: samplePlan(renderTime(clock.nowMs())) }, signal);
}

/** Waits until the ClusterVersion requests several architectures, and moves the cluster there. Rejects when the signal aborts. */
export async function runOperators(deps: OperatorDeps, signal: AbortSignal): Promise<void> {
  const { api, clock, pause } = deps;
  const target = { name: CLUSTER_VERSION_NAME };
  while (!isAsked(await api.get(Resource.clusterVersions, target, signal))) await pause(signal);
  const say = async (state: "Partial" | "Completed"): Promise<void> => {
    const status = releaseStatus(MULTI, { state, at: renderTime(clock.nowMs()) });
    await writeStatus(api, { type: Resource.clusterVersions, ...target, status, signal });
  };
  await say("Partial");
  for (const name of OPERATORS) {
    await pause(signal);
    await writeStatus(api, { type: Resource.clusterOperators, name, status: operatorStatus(MULTI), signal });
  }
  // All pools have their new configuration before the version counts as completed.
  for (const pool of ["master", "worker"] as const) await writePool(deps, { pool, updated: 0, signal });
  await updatePool(deps, "master", signal);
  await say("Completed");
  await updatePool(deps, "worker", signal);
}

function isAsked(clusterVersion: KubeObject): boolean {
  return textAt(objectAt(clusterVersion.spec, "desiredUpdate"), "architecture") === MULTI;
}

async function updatePool(deps: OperatorDeps, pool: PoolName, signal: AbortSignal): Promise<void> {
  for (const [index, name] of POOLS[pool].entries()) {
    await cordon(deps, { name, state: "Working", unschedulable: true, signal });
    await deps.pause(signal);
    await cordon(deps, { name, state: "Done", unschedulable: null, signal });
    await writePool(deps, { pool, updated: index + 1, signal });
  }
}

async function writePool(
  { api }: OperatorDeps,
  { pool, updated, signal }: { readonly pool: PoolName; readonly updated: number; readonly signal: AbortSignal },
): Promise<void> {
  const status = poolStatus(pool, { architecture: MULTI, updated });
  await writeStatus(api, { type: Resource.machineConfigPools, name: pool, status, signal });
}

async function cordon(
  { api }: OperatorDeps,
  { name, state, unschedulable, signal }: {
    readonly name: string;
    readonly state: "Working" | "Done";
    readonly unschedulable: true | null;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const metadata = { annotations: { "machineconfiguration.openshift.io/state": state } };
  const document = { metadata, spec: { unschedulable } };
  await api.patch(Resource.nodes, { name }, { body: { kind: "merge", document }, signal });
}

async function create(api: KubeApi, { type, object, status }: SampleObject, signal: AbortSignal): Promise<void> {
  const { namespace, name } = object.metadata;
  const target = namespace === undefined ? {} : { namespace };
  const body = { apiVersion: apiVersionOf(type), kind: type.kind, ...object };
  await api.create(type, type.plural === Resource.nodes.plural ? { ...body, status } : body, { ...target, signal });
  if (status === undefined || type.plural === Resource.nodes.plural) return;
  await writeStatus(api, { type, name, status, signal });
}

async function writeStatus(
  api: KubeApi,
  { type, name, status, signal }: {
    readonly type: ResourceType;
    readonly name: string;
    readonly status: Readonly<Record<string, unknown>>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const body = { kind: "merge", document: { status } } as const;
  await api.patch(type, { name, subresource: "status" }, { body, signal });
}
