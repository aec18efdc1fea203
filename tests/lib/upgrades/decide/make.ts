// Objects of upgrades as the API server has them, for tests of their pure parts.
import { type Node, parseNode } from "../../../../lib/vocabulary/node.ts";
import type { KubeObject } from "../../../../lib/k8s/types.ts";

/** 2026-03-01 12:00 UTC. */
export const NOW_MS: number = Date.UTC(2026, 2, 1, 12);

export function minutes(count: number): number {
  return count * 60_000;
}

export function minutesAgo(count: number): string {
  return new Date(NOW_MS - minutes(count)).toISOString();
}

export function machineSet(
  name: string,
  { pool = "worker", ageMinutes = 1, replicas = 1, unready = 0, temporary = false, smoke = false, leaving = false } =
    {},
): KubeObject {
  const labels = {
    ...pool === "" ? {} : { "hive.openshift.io/machine-pool": pool },
    ...smoke ? { "archway.dev/upgrade-smoke": "true" } : {},
    ...temporary ? { "upgrade.managed.openshift.io": "true" } : {},
  };
  const own = { "machine.openshift.io/cluster-api-machineset": name };
  return {
    apiVersion: "machine.openshift.io/v1beta1",
    kind: "MachineSet",
    metadata: {
      ...{ name, namespace: "openshift-machine-api", uid: `uid-${name}`, labels, resourceVersion: "7" },
      creationTimestamp: minutesAgo(ageMinutes),
      ...leaving ? { deletionTimestamp: minutesAgo(0) } : {},
    },
    spec: {
      replicas,
      selector: { matchLabels: own },
      template: { metadata: { labels: own }, spec: { providerSpec: { value: { instanceType: "m6g.large" } } } },
    },
    status: { replicas, readyReplicas: replicas - unready },
  };
}

export function machine(
  name: string,
  { set, node, phase = "Running" }: { readonly set: string; readonly node?: string; readonly phase?: string },
): KubeObject {
  const labels = { "machine.openshift.io/cluster-api-machineset": set, "upgrade.managed.openshift.io": "true" };
  return {
    metadata: { name, namespace: "openshift-machine-api", labels },
    status: { phase, ...node === undefined ? {} : { nodeRef: { name: node } } },
  };
}

export function rawNode(
  name: string,
  { cordonedMinutes, taints = [], labels = { "node-role.kubernetes.io/worker": "" }, state, configs, leaving = false }:
    {
      readonly cordonedMinutes?: number | "unknown";
      readonly taints?: readonly unknown[];
      readonly labels?: Readonly<Record<string, string>>;
      readonly state?: string;
      /** The one that it has, and the one that it is to have. */
      readonly configs?: readonly [string, string];
      readonly leaving?: boolean;
    } = {},
): KubeObject {
  const cordon = cordonedMinutes === undefined ? [] : [{
    ...{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" },
    ...cordonedMinutes === "unknown" ? {} : { timeAdded: minutesAgo(cordonedMinutes) },
  }];
  return {
    metadata: {
      name,
      labels,
      ...state === undefined ? {} : { annotations: annotationsOf(state, configs) },
      ...leaving ? { deletionTimestamp: minutesAgo(0) } : {},
    },
    spec: { ...cordonedMinutes === undefined ? {} : { unschedulable: true }, taints: [...taints, ...cordon] },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  };
}

function annotationsOf(state: string, configs?: readonly [string, string]): Readonly<Record<string, string>> {
  const prefix = "machineconfiguration.openshift.io/";
  const [currentConfig, desiredConfig] = configs ?? [];
  return {
    [`${prefix}state`]: state,
    ...currentConfig === undefined ? {} : { [`${prefix}currentConfig`]: currentConfig },
    ...desiredConfig === undefined ? {} : { [`${prefix}desiredConfig`]: desiredConfig },
  };
}

export function node(...args: Parameters<typeof rawNode>): Node {
  return parseNode(rawNode(...args));
}
