// Which configs apply to a pod, in which order, and what they ask for.
import { type Labels, matchesSelector } from "../../../vocabulary/label_selector.ts";
import type { NamespaceConfig, NodeAffinityScoring, PlacementConfigs } from "./types.ts";

/** A scoring plugin that is switched on, under the name the audit annotation gives it. */
export interface ScoringSource {
  readonly source: string;
  readonly scoring: NodeAffinityScoring;
}

/** Selects by the labels the pod has now, Archway's own ones included. */
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

/** The enabled scoring plugins in the order in which they are applied: namespace configs, then the cluster's. */
export function scoringSources(selected: PlacementConfigs): readonly ScoringSource[] {
  const sources = selected.namespace.map(({ name, scoring }) => ({ source: `PodPlacementConfig-${name}`, scoring }));
  const { cluster } = selected;
  if (cluster !== undefined) sources.push({ source: "ClusterPodPlacementConfig", scoring: cluster.scoring });
  return sources.filter(({ scoring }) => scoring.enabled);
}

export function scoringWanted(selected: PlacementConfigs): boolean {
  return selected.cluster?.scoring.enabled === true || selected.namespace.some(({ scoring }) => scoring.enabled);
}

/** The architecture to fall back to: of the first namespace config that names one, else the cluster's. */
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
