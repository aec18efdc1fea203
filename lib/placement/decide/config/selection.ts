// Which configs apply to a pod, in which order, and what they request.
import { type Labels, matchesSelector } from "../../../vocabulary/label_selector.ts";
import type { NamespaceConfig, PlacementConfigs } from "./config.ts";

/** An enabled scoring plugin, with its name in the pod's annotation. */
export interface ScoringSource {
  readonly source: string;
  readonly scoring: NamespaceConfig["scoring"];
}

/** Selects by the pod's current labels, including Archway's own. */
export function selectConfigs(
  pod: { readonly namespace: string; readonly labels: Labels | undefined },
  configs: PlacementConfigs,
): PlacementConfigs {
  if (configs.namespace.length === 0) return { cluster: configs.cluster, namespace: [] };
  const matching = configs.namespace.filter((config) =>
    config.namespace === pod.namespace && matchesSelector(config.labelSelector, pod.labels)
  );
  return { cluster: configs.cluster, namespace: matching.sort(byPrecedence) };
}

/** The enabled scoring plugins in order: namespace configs, then the cluster's. */
export function scoringSources(selected: PlacementConfigs): readonly ScoringSource[] {
  const sources = selected.namespace.map(({ name, scoring }) => ({ source: `PodPlacementConfig-${name}`, scoring }));
  const { cluster } = selected;
  if (cluster !== undefined) sources.push({ source: "ClusterPodPlacementConfig", scoring: cluster.scoring });
  return sources.filter(({ scoring }) => scoring.enabled);
}

export function isScoringWanted(selected: PlacementConfigs): boolean {
  return selected.cluster?.scoring.enabled === true || selected.namespace.some(({ scoring }) => scoring.enabled);
}

/** The fallback architecture: from the first namespace config with one, else the cluster's. */
export function fallbackArchitecture(selected: PlacementConfigs): string | undefined {
  return selected.namespace.find((config) => config.fallbackArchitecture !== undefined)?.fallbackArchitecture ??
    selected.cluster?.fallbackArchitecture;
}

function byPrecedence(left: NamespaceConfig, right: NamespaceConfig): number {
  if (left.priority !== right.priority) return right.priority - left.priority;
  if (left.createdMs !== right.createdMs) {
    return left.createdMs - right.createdMs;
  }
  return left.name < right.name ? -1 : 1;
}
