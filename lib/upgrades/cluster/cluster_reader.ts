// What one reconcile reads of the cluster: each collection at most once, however many nodes there are.
import { isTrue, parseConditions } from "../../vocabulary/condition.ts";
import { type DisruptionBudget, parseDisruptionBudget } from "../../vocabulary/disruption_budget.ts";
import { isBlocking } from "../decide/health/checks.ts";
import { type Node, parseNode } from "../../vocabulary/node.ts";
import {
  type Machine,
  type MachineConfigPool,
  parseMachine,
  parseMachineConfigPool,
} from "../../vocabulary/machines.ts";
import { ignoring, type ReadApi } from "../../k8s/api.ts";
import { isNotFound } from "../../k8s/api_error.ts";
import { listAll, type ListAllOptions } from "../../k8s/lists.ts";
import { type KubeObject, Resource, type ResourceType } from "../../k8s/types.ts";
import { BUILD_POOL_LABEL } from "../../names.ts";
import { MachineName } from "../names.ts";
import { type MachineSetView, parseMachineSetView } from "../decide/capacity/machine_set_view.ts";
import { BudgetGatherer, parseDrainPod } from "../decide/drain/parse.ts";
import type { DrainBudgets, DrainPod, DrainSettings } from "../decide/drain/types.ts";
import { type ClusterOperator, parseClusterOperator } from "../decide/types/cluster.ts";

/** Each function reads at its first call, and returns the same afterwards. */
export interface ClusterReader {
  nodes(): Promise<readonly Node[]>;
  operators(): Promise<readonly ClusterOperator[]>;
  pools(): Promise<readonly MachineConfigPool[]>;
  buildingPools(): Promise<ReadonlySet<string>>;
  machineSets(): Promise<readonly MachineSetView[]>;
  temporaryMachines(): Promise<readonly Machine[]>;
  smokeMachines(): Promise<readonly Machine[]>;
  budgets(): Promise<Budgets>;
  drainPods(node: string, settings: Pick<DrainSettings, "ignoredNamespaces">): Promise<readonly DrainPod[]>;
}

interface Budgets {
  readonly drain: DrainBudgets;
  readonly blocking: readonly DisruptionBudget[];
}

export function openClusterReader(api: ReadApi, signal: AbortSignal): ClusterReader {
  // Each object is parsed as it arrives, since users can make objects large.
  const list = async <T>(
    type: ResourceType,
    parse: (object: KubeObject) => T | undefined,
    options: Omit<ListAllOptions, "signal"> = {},
  ): Promise<readonly T[]> => {
    const kept: T[] = [];
    for await (const object of listAll(api, type, { ...options, signal })) {
      const parsed = parse(object);
      if (parsed !== undefined) kept.push(parsed);
    }
    return kept;
  };
  const machinesWith = (label: string) => async (): Promise<readonly Machine[]> => {
    const options = { namespace: MachineName.namespace, labelSelector: `${label}=true` };
    return await list(Resource.machines, parseMachine, options);
  };
  const budgets = memoized(() => readBudgets(api, signal));
  const podsOfNode = new Map<string, Promise<readonly DrainPod[]>>();
  const readDrainPods = async (node: string, ignoredNamespaces: readonly RegExp[]): Promise<readonly DrainPod[]> => {
    const context = { node, budgets: (await budgets()).drain, ignoredNamespaces };
    return await list(Resource.pods, (pod) => parseDrainPod(pod, context), { fieldSelector: `spec.nodeName=${node}` });
  };
  return {
    nodes: memoized(() => list(Resource.nodes, parseNode)),
    operators: memoized(() => list(Resource.clusterOperators, parseClusterOperator)),
    pools: memoized(() => list(Resource.machineConfigPools, parseMachineConfigPool)),
    buildingPools: memoized(() => readBuildingPools(api, signal)),
    machineSets: memoized(() => list(Resource.machineSets, parseMachineSetView, { namespace: MachineName.namespace })),
    temporaryMachines: memoized(machinesWith(MachineName.upgradeLabel)),
    smokeMachines: memoized(machinesWith(MachineName.smokeLabel)),
    budgets,
    drainPods: (node, { ignoredNamespaces }) => {
      const reading = podsOfNode.get(node) ?? readDrainPods(node, ignoredNamespaces);
      podsOfNode.set(node, reading);
      return reading;
    },
  };
}

async function readBudgets(api: ReadApi, signal: AbortSignal): Promise<Budgets> {
  const gatherer = new BudgetGatherer();
  const blocking: DisruptionBudget[] = [];
  for await (const object of listAll(api, Resource.podDisruptionBudgets, { signal })) {
    const budget = parseDisruptionBudget(object);
    gatherer.add(budget);
    if (isBlocking(budget)) blocking.push({ ...budget, selector: undefined });
  }
  return { drain: gatherer.budgets(), blocking };
}

async function readBuildingPools(api: ReadApi, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const all = Array.fromAsync(listAll(api, Resource.machineOsBuilds, { signal }));
  const building = (await ignoring(isNotFound, all) ?? []).filter(({ status }) =>
    isTrue(parseConditions(status), "Building")
  );
  return new Set(building.map(({ metadata }) => metadata.labels?.[BUILD_POOL_LABEL] ?? ""));
}

function memoized<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => reading ??= read();
}
