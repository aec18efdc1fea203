// Architectures that the cluster has or can create: by nodes, Karpenter NodePools and MachineSets.
import type { ReadApi } from "../../k8s/api.ts";
import { RETENTION } from "../../k8s/retention.ts";
import { Reflector, type ReflectorDeps } from "../../k8s/reflector.ts";
import { type KubeObject, Resource, type ResourceType } from "../../k8s/types.ts";
import { entryOf } from "../../json.ts";
import { isForbidden } from "../../k8s/api_error.ts";
import { listAll } from "../../k8s/lists.ts";
import { NODE_ARCH_LABEL } from "../../names.ts";
import { offeredByMachineSet, offeredByNode, offeredByNodePool } from "../decide/offered_architectures.ts";

export interface ClusterArchitectures {
  run(signal: AbortSignal): Promise<void>;
  /** Sorted. Undefined, so that nothing is narrowed, until nodes are known, and pools known, missing or refused. */
  current(): readonly string[] | undefined;
  architectureOfNode(name: string): string | undefined;
  /** Number of nodes per architecture; undefined until nodes are known. */
  countNodes(): ReadonlyMap<string, number> | undefined;
}

export function openClusterArchitectures(deps: ReflectorDeps): ClusterArchitectures {
  let answer: readonly string[] | undefined;
  const forgetAnswer = (): void => {
    answer = undefined;
  };
  const follow = (
    resource: ResourceType,
    parse: (object: KubeObject) => readonly string[],
  ): Reflector<readonly string[]> =>
    new Reflector({ ...deps, resource, parse, retain: RETENTION.nodes, onChange: forgetAnswer, name: resource.plural });
  const nodes = follow(Resource.nodes, offeredByNode);
  const makers = [follow(Resource.nodePools, offeredByNodePool), follow(Resource.machineSets, offeredByMachineSet)];
  return {
    run: async (signal) => {
      await Promise.all([nodes, ...makers].map((reflector) => reflector.run(signal)));
    },
    current: () => {
      if (!nodes.hasSynced() || makers.some((maker) => maker.state() === "starting")) return undefined;
      answer ??= [...new Set([nodes, ...makers].flatMap((reflector) => [...reflector.values()].flat()))].sort();
      return answer;
    },
    architectureOfNode: (name) => nodes.get(name)?.[0],
    countNodes: () => nodes.hasSynced() ? countEach([...nodes.values()].flat()) : undefined,
  };
}

function countEach(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Names of nodes without the architecture label, which get no placed pods. Empty without read access to nodes. */
export async function readUnlabelledNodes(api: ReadApi, signal: AbortSignal): Promise<readonly string[]> {
  const options = { labelSelector: `!${NODE_ARCH_LABEL}`, resourceVersion: "0", signal } as const;
  const names: string[] = [];
  try {
    for await (const { metadata: { name, labels } } of listAll(api, Resource.nodes, options)) {
      if (entryOf(labels, NODE_ARCH_LABEL) === undefined) names.push(name);
    }
  } catch (error) {
    if (!isForbidden(error)) throw error;
  }
  return names.sort();
}
