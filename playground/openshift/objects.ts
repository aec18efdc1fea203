// A small cluster of OpenShift as an upgrade sees it, as data: a release for one architecture, its operators, two pools with
// their nodes, two workloads, and the plan to move it to the release for several architectures.
import { type KubeObject, Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { NODE_ARCH_LABEL } from "../../lib/names.ts";
import { Upgrades } from "../../lib/upgrades/names.ts";

/** The release that is there and stays; only its payload changes. */
export const RELEASE = "4.20.5";
export const OPERATORS = ["etcd", "kube-apiserver", "machine-config"] as const;
/** Nodes of each pool, the control plane first. */
export const POOLS = { master: ["master-1"], worker: ["worker-1", "worker-2", "worker-3"] } as const;
export type PoolName = keyof typeof POOLS;

export interface SampleObject {
  readonly type: ResourceType;
  readonly object: KubeObject;
  readonly status?: Readonly<Record<string, unknown>>;
}

export function payloadOf(architecture: "" | "Multi"): string {
  return `quay.io/openshift-release-dev/ocp-release@sha256:${(architecture === "" ? "5" : "a").repeat(64)}`;
}

export function releaseStatus(
  architecture: "" | "Multi",
  { state, at }: { readonly state: "Completed" | "Partial"; readonly at: string },
): Readonly<Record<string, unknown>> {
  const image = payloadOf(architecture);
  const history = [{
    version: RELEASE,
    image,
    state,
    startedTime: at,
    completionTime: state === "Partial" ? null : at,
  }];
  const older = architecture === "" ? [] : [{ version: RELEASE, image: payloadOf(""), state: "Completed" }];
  const isProgressing = state === "Partial" ? "True" : "False";
  return {
    desired: { version: RELEASE, image, ...architecture === "" ? {} : { architecture } },
    history: [...history, ...older],
    conditions: conditions({
      Available: "True",
      Failing: "False",
      Progressing: isProgressing,
      ReleaseAccepted: "True",
    }),
  };
}

export function operatorStatus(architecture: "" | "Multi"): Readonly<Record<string, unknown>> {
  return {
    conditions: conditions({ Available: "True", Progressing: "False", Degraded: "False" }),
    versions: [{ name: "operator", version: RELEASE }, { name: "operator-image", version: payloadOf(architecture) }],
  };
}

export function renderedOf(pool: PoolName, architecture: "" | "Multi"): string {
  return `rendered-${pool}-${architecture === "" ? "one" : "several"}`;
}

export function poolStatus(
  pool: PoolName,
  { architecture, updated }: { readonly architecture: "" | "Multi"; readonly updated: number },
): Readonly<Record<string, unknown>> {
  const machines = POOLS[pool].length;
  const isDone = updated === machines;
  return {
    configuration: { name: renderedOf(pool, isDone ? architecture : "") },
    ...{ machineCount: machines, updatedMachineCount: updated, readyMachineCount: updated, degradedMachineCount: 0 },
    conditions: conditions({ Updated: isDone ? "True" : "False", Updating: isDone ? "False" : "True" }),
  };
}

/** Everything but the plan. `image` is a repository of the playground's registry with its host. */
export function sampleCluster(
  { at, image }: { readonly at: string; readonly image: (repository: string) => string },
): readonly SampleObject[] {
  const pools = Object.keys(POOLS).filter((name) => name === "master" || name === "worker");
  const { namespace, settings: name } = Upgrades;
  const data = { [Upgrades.settingsKey]: "configManager:\n  source: LOCAL\n" };
  return [
    { type: Resource.configMaps, object: { metadata: { namespace, name }, data } },
    {
      type: Resource.clusterVersions,
      object: { metadata: { name: "version" }, spec: { clusterID: "sample", channel: "stable-4.20" } },
      status: releaseStatus("", { state: "Completed", at }),
    },
    ...OPERATORS.map((name) => ({
      type: Resource.clusterOperators,
      object: { metadata: { name }, spec: {} },
      status: operatorStatus(""),
    })),
    ...pools.flatMap((pool) => [
      ...(["", "Multi"] as const).map((architecture) => rendered(pool, architecture)),
      {
        type: Resource.machineConfigPools,
        object: { metadata: { name: pool }, spec: { paused: false } },
        status: poolStatus(pool, { architecture: "", updated: POOLS[pool].length }),
      },
    ]),
    ...pools.flatMap((pool) => POOLS[pool].map((name) => node(name, pool))),
    ...["demo/web", "demo/legacy"].map((repository) => deployment(repository, image(repository))),
  ];
}

/** The plan: the same version, for several architectures, due now. */
export function samplePlan(upgradeAt: string): KubeObject {
  const desired = { version: RELEASE, channel: "stable-4.20", architecture: "Multi" };
  return {
    metadata: { namespace: Upgrades.namespace, name: Upgrades.config },
    spec: { type: "OSD", upgradeAt, PDBForceDrainTimeout: 60, desired },
  };
}

function rendered(pool: PoolName, architecture: "" | "Multi"): SampleObject {
  const osImageURL = payloadOf(architecture).replace("ocp-release", "ocp-v4.0-art-dev");
  const object = { metadata: { name: renderedOf(pool, architecture) }, spec: { osImageURL } };
  return { type: Resource.machineConfigs, object };
}

function node(name: string, pool: PoolName): SampleObject {
  const labels = {
    [NODE_ARCH_LABEL]: "amd64",
    "kubernetes.io/os": "linux",
    [`node-role.kubernetes.io/${pool}`]: "",
  };
  const status = {
    allocatable: { cpu: "8", memory: "32Gi", pods: "250" },
    conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }],
  };
  return { type: Resource.nodes, object: { metadata: { name, labels }, spec: {} }, status };
}

function deployment(repository: string, image: string): SampleObject {
  const name = repository.replace(/^.*\//, "");
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name, image: `${image}:v1` }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  return { type: Resource.deployments, object: { metadata: { namespace: "demo", name, labels }, spec } };
}

function conditions(states: Readonly<Record<string, string>>): readonly Readonly<Record<string, string>>[] {
  return Object.entries(states).map(([type, status]) => ({ type, status }));
}
