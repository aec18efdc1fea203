// A small cluster for the tests of the taints: nodes, pods and a cluster config on an API server in memory.
import { CLUSTER_CONFIG_NAME } from "../../../lib/names.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import type { MemoryCluster } from "../../support/memory_kube_api.ts";
import { taintsOf } from "../../lib/taints/decide/make.ts";

export function clusterConfig(spec: unknown = {}, metadata: Readonly<Record<string, unknown>> = {}): KubeObject {
  return {
    apiVersion: "multiarch.openshift.io/v1beta1",
    kind: "ClusterPodPlacementConfig",
    metadata: { name: CLUSTER_CONFIG_NAME, uid: "config", generation: 1, ...metadata },
    spec,
  };
}

/** Taints of each node in a line: `n1:amd64 n2:`. */
export function taintLine(cluster: MemoryCluster): string {
  return [...cluster.objects.values()].filter(({ kind }) => kind === "Node")
    .map((node) => `${node.metadata.name}:${taintsOf(node).map(({ value }) => value).join("+")}`).sort().join(" ");
}

export function toleratedBy(cluster: MemoryCluster, name: string): string {
  const { tolerations = [] } = Object(cluster.find("pods", `team/${name}`)?.["spec"]);
  return tolerations.filter(({ key }: { key: string }) => key === "supported-arch")
    .map(({ value }: { value: string }) => value).join();
}

export function conditionOf(cluster: MemoryCluster): string {
  const { conditions = [] } = Object(cluster.find(Resource.clusterConfigs.plural, CLUSTER_CONFIG_NAME)?.["status"]);
  const found = conditions.find(({ type }: { type: string }) => type === "ArchitectureTaints");
  return found === undefined ? "" : `${found.status} ${found.reason}`;
}
