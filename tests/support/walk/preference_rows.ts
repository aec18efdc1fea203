// Pods that configs score, alone and together, and the configs.
import type { JsonObject } from "../../../playground/json_path.ts";
import { A50, FOUR, M4, placed } from "./ends.ts";
import { affinity, archIn, type Scenario } from "./scenario.ts";
import type { WalkSubject } from "./subject.ts";

/** The plugin of a config. */
export function scoring(enabled: boolean, ...platforms: readonly (readonly [string, number])[]): JsonObject {
  const list = platforms.map(([architecture, weight]) => ({ architecture, weight }));
  return { nodeAffinityScoring: { enabled, platforms: list } };
}

export interface Config {
  readonly name: string;
  readonly namespace: string;
  readonly priority: number;
  readonly platforms: readonly (readonly [string, number])[];
  readonly app?: string;
}

export async function createConfigs(walk: WalkSubject, configs: readonly Config[]): Promise<void> {
  for (const { name, namespace, priority, platforms, app } of configs) {
    const labelSelector = app === undefined ? {} : { labelSelector: { matchLabels: { app } } };
    const body = { metadata: { name }, spec: { priority, plugins: scoring(true, ...platforms), ...labelSelector } };
    await walk.create("PodPlacementConfig", body, namespace);
  }
}

export async function removeConfigs(walk: WalkSubject, configs: readonly Config[]): Promise<void> {
  for (const { name, namespace } of configs) await walk.remove("PodPlacementConfig", name, namespace);
}

export const CONFIGS: readonly Config[] = [
  { name: "a", namespace: "three", priority: 50, platforms: [["arm64", 30]] },
  { name: "b", namespace: "three", priority: 30, platforms: [["s390x", 10]] },
  { name: "c", namespace: "three", priority: 10, platforms: [["arm64", 33], ["ppc64le", 40]] },
  { name: "backend", namespace: "labels", priority: 1, platforms: [["ppc64le", 60]], app: "backend" },
  { name: "test-ppc-low", namespace: "two", priority: 30, platforms: [["arm64", 60]] },
  { name: "test-ppc-high", namespace: "two", priority: 60, platforms: [["arm64", 30]] },
  { name: "test-ppc-high", namespace: "overlap", priority: 100, platforms: [["amd64", 20], ["arm64", 60]] },
  { name: "test-ppc-low", namespace: "overlap", priority: 50, platforms: [["arm64", 30], ["ppc64le", 40]] },
  { name: "own", namespace: "own", priority: 1, platforms: [["amd64", 50], ["arm64", 20]] },
];

export function preferenceRows(host: string): readonly Scenario[] {
  const images = [`${host}/hello:m4`];
  const weigh = (architecture: string, weight: number): string => `${archIn(architecture)}:${weight}`;
  const prefers = (name: string, namespace: string, ...weights: readonly string[]): Scenario => ({
    name,
    namespace,
    images,
    expect: placed(FOUR, weights),
  });
  const [high, low] = ["PodPlacementConfig-test-ppc-high", "PodPlacementConfig-test-ppc-low"];
  const two = prefers("E-43 M2-03 M2-04 two configs of one architecture", "two", weigh("arm64", 30), A50);
  const three = [weigh("amd64", 20), weigh("arm64", 60), weigh("ppc64le", 40)];
  const overlap = prefers("E-44 three overlapping configs", "overlap", ...three);
  return [
    prefers("E-41 three configs", "three", weigh("arm64", 30), weigh("s390x", 10), weigh("ppc64le", 40), A50),
    {
      ...prefers("E-42 a config that selects the pod", "labels", weigh("ppc64le", 60), A50),
      labels: { app: "backend" },
    },
    { ...prefers("E-42 M2-07 a config that does not", "labels", A50), labels: { app: "frontend" } },
    {
      ...two,
      expect: { ...two.expect, sources: `arm64:30:${high},arm64:60:${low}:skipped,amd64:50:ClusterPodPlacementConfig` },
    },
    {
      ...overlap,
      expect: {
        ...overlap.expect,
        sources: `amd64:20:${high},arm64:60:${high},arm64:30:${low}:skipped,ppc64le:40:${low},` +
          "amd64:50:ClusterPodPlacementConfig:skipped",
      },
    },
    {
      name: "E-45 a preference of the user against a config",
      namespace: "own",
      images,
      spec: affinity([], [archIn("amd64"), 5]),
      expect: { ...M4, preferred: "not-set", weights: [weigh("amd64", 5)] },
    },
  ];
}
