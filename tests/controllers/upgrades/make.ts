// The upgrades controller on an API server in memory: its requests, writes and events are kept.
import type { UpgradesDeps } from "../../../controllers/upgrades/deps.ts";
import type { DriveOptions } from "../../../controllers/upgrades/drive.ts";
import type { Outside } from "../../../lib/upgrades/outside/outside.ts";
import { renderTime } from "../../../lib/vocabulary/time.ts";
import type { KubeApi } from "../../../lib/k8s/api.ts";
import type { EventInput } from "../../../lib/k8s/event_input.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import type { FakeClock } from "../../support/fake_clock.ts";
import type { MemoryCall, MemoryCluster } from "../../support/memory_kube_api.ts";
import { openScene } from "../make.ts";

export const NAMESPACE = "openshift-managed-upgrade-operator";

export interface UpgradeScene {
  readonly cluster: MemoryCluster;
  readonly clock: FakeClock;
  readonly deps: UpgradesDeps;
  readonly calls: MemoryCall[];
  readonly events: EventInput[];
  readonly gauges: Map<string, number>;
  fault: (call: MemoryCall) => Promise<void> | void;
}

interface PlanParts {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

export function openUpgradeScene(parts: PlanParts = {}): UpgradeScene {
  const { cluster, clock, events, recorded } = openScene();
  const calls: MemoryCall[] = [];
  const gauges = new Map<string, number>();
  const client = cluster.client((call) => {
    if (call.verb !== "watch") calls.push(call);
    return scene.fault(call);
  });
  const api: KubeApi = {
    ...client,
    create: (type, object, options) => {
      const metadata = { ...Object(object["metadata"]), creationTimestamp: renderTime(clock.nowMs()) };
      return client.create(type, { ...object, metadata }, options);
    },
  };
  const deps: UpgradesDeps = {
    ...{ readApi: api, api, clock, log: silentLogger, namespace: NAMESPACE, outside: quietOutside() },
    ...{ events, adviseOnWorkloads: () => Promise.resolve([]) },
    gauges: {
      set: (metric, labels, value) => void gauges.set(`${metric}${JSON.stringify(labels)}`, value),
      clear: (metric) => {
        for (const name of [...gauges.keys()]) if (name.startsWith(metric)) gauges.delete(name);
      },
      clearGroup: () => gauges.clear(),
    },
  };
  const scene: UpgradeScene = { cluster, clock, deps, calls, events: recorded, gauges, fault: () => {} };
  putBase(scene, parts);
  return scene;
}

/** What is found beside the reconciles where nothing is found. */
export const NOTHING_BESIDE: Pick<DriveOptions, "workloads" | "notReadyNodes" | "onWritten"> = {
  workloads: () => [],
  notReadyNodes: () => [],
  onWritten: () => {},
};

function putBase({ clock, cluster }: UpgradeScene, { spec = {}, status = {} }: PlanParts): void {
  const upgradeAt = new Date(clock.nowMs() - 60_000).toISOString();
  cluster.put(Resource.upgradeConfigs, {
    metadata: { name: "managed-upgrade-config", namespace: NAMESPACE, uid: "plan", generation: 1 },
    spec: {
      ...{ type: "OSD", upgradeAt, PDBForceDrainTimeout: 60, desired: { version: "4.20.5", channel: "stable-4.20" } },
      ...spec,
    },
    status,
  });
  putSettings(cluster);
}

export function putSettings(cluster: MemoryCluster): void {
  cluster.put(Resource.configMaps, {
    metadata: { name: "managed-upgrade-operator-config", namespace: NAMESPACE },
    data: { "config.yaml": "configManager: { source: LOCAL }\n" },
  });
  cluster.put(Resource.clusterVersions, {
    metadata: { name: "version" },
    spec: { channel: "stable-4.20", clusterID: "c" },
    status: {
      desired: { version: "4.20.1", image: "a" },
      availableUpdates: [{ version: "4.20.5", image: "b" }],
      history: [{ version: "4.20.1", image: "a", state: "Completed", completionTime: "2026-01-01T00:00:00Z" }],
    },
  });
}

export function pool(name: string, sizes: { readonly machines?: number; readonly updated?: number } = {}): KubeObject {
  const { machines = 3, updated = machines } = sizes;
  const conditions = [{ type: "Updated", status: updated === machines ? "True" : "False" }];
  const config = { name: "rendered" };
  return {
    metadata: { name },
    spec: { configuration: config },
    status: { machineCount: machines, updatedMachineCount: updated, conditions, configuration: config },
  };
}

function quietOutside(): Outside {
  return {
    readers: () => ({
      silences: () => Promise.resolve([]),
      health: () => Promise.resolve([]),
      healthAfter: () => Promise.resolve([]),
      dependencies: () => Promise.resolve([]),
      graph: () => Promise.resolve([]),
      payload: () => Promise.reject(new Error("no payload")),
      policy: () => Promise.resolve({ kind: "notConfigured" }),
      alertsDuring: () => Promise.resolve([]),
    }),
    createSilence: () => Promise.resolve(),
    endSilence: () => Promise.resolve(),
    notify: () => Promise.resolve(),
  };
}
