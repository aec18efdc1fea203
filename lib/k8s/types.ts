// The types of the Kubernetes API that Archway's edges and controllers share.
import type { KubeObject } from "../vocabulary/meta.ts";
import { ApiError } from "./api_error.ts";

export type { KubeObject, ObjectMeta, OwnerReference } from "../vocabulary/meta.ts";

export interface KubeList {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly bytes?: number;
}

export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

export interface ResourceTarget {
  readonly namespace?: string | undefined;
  readonly name?: string;
  readonly subresource?: string;
}

/** The resource of a kind. All kinds in {@link Resource} have a regular plural. */
function namespaced(apiVersion: string, kind: string): ResourceType {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const plural = `${kind.toLowerCase()}s`.replace(/ys$/, "ies");
  return { group, version, plural, kind, namespaced: true };
}

function clusterWide(apiVersion: string, kind: string): ResourceType {
  return { ...namespaced(apiVersion, kind), namespaced: false };
}

export const Resource = {
  pods: namespaced("v1", "Pod"),
  secrets: namespaced("v1", "Secret"),
  nodes: clusterWide("v1", "Node"),
  nodePools: clusterWide("karpenter.sh/v1", "NodePool"),
  namespaces: clusterWide("v1", "Namespace"),
  serviceAccounts: namespaced("v1", "ServiceAccount"),
  services: namespaced("v1", "Service"),
  configMaps: namespaced("v1", "ConfigMap"),
  events: namespaced("v1", "Event"),
  leases: namespaced("coordination.k8s.io/v1", "Lease"),
  deployments: namespaced("apps/v1", "Deployment"),
  statefulSets: namespaced("apps/v1", "StatefulSet"),
  daemonSets: namespaced("apps/v1", "DaemonSet"),
  jobs: namespaced("batch/v1", "Job"),
  cronJobs: namespaced("batch/v1", "CronJob"),
  podDisruptionBudgets: namespaced("policy/v1", "PodDisruptionBudget"),
  mutatingWebhooks: clusterWide("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
  validatingWebhooks: clusterWide("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
  clusterRoles: clusterWide("rbac.authorization.k8s.io/v1", "ClusterRole"),
  clusterRoleBindings: clusterWide("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
  customResourceDefinitions: clusterWide("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
  clusterConfigs: clusterWide("multiarch.openshift.io/v1beta1", "ClusterPodPlacementConfig"),
  namespaceConfigs: namespaced("multiarch.openshift.io/v1beta1", "PodPlacementConfig"),
  enoexecEvents: namespaced("multiarch.openshift.io/v1beta1", "ENoExecEvent"),
  serviceMonitors: namespaced("monitoring.coreos.com/v1", "ServiceMonitor"),
  prometheusRules: namespaced("monitoring.coreos.com/v1", "PrometheusRule"),
  upgradeConfigs: namespaced("upgrade.managed.openshift.io/v1alpha1", "UpgradeConfig"),
  clusterVersions: clusterWide("config.openshift.io/v1", "ClusterVersion"),
  clusterOperators: clusterWide("config.openshift.io/v1", "ClusterOperator"),
  machineConfigPools: clusterWide("machineconfiguration.openshift.io/v1", "MachineConfigPool"),
  machineConfigs: clusterWide("machineconfiguration.openshift.io/v1", "MachineConfig"),
  machineOsBuilds: clusterWide("machineconfiguration.openshift.io/v1", "MachineOSBuild"),
  imageConfigs: clusterWide("config.openshift.io/v1", "Image"),
  imageStreamTags: namespaced("image.openshift.io/v1", "ImageStreamTag"),
  fileIntegrities: namespaced("fileintegrity.openshift.io/v1alpha1", "FileIntegrity"),
  machineSets: namespaced("machine.openshift.io/v1beta1", "MachineSet"),
  machines: namespaced("machine.openshift.io/v1beta1", "Machine"),
  machineOsConfigs: clusterWide("machineconfiguration.openshift.io/v1", "MachineOSConfig"),
  kueueWorkloads: namespaced("kueue.x-k8s.io/v1beta2", "Workload"),
  kueueChecks: clusterWide("kueue.x-k8s.io/v1beta2", "AdmissionCheck"),
  kueueFlavors: clusterWide("kueue.x-k8s.io/v1beta2", "ResourceFlavor"),
  controllerConfigs: clusterWide("machineconfiguration.openshift.io/v1", "ControllerConfig"),
} as const satisfies Readonly<Record<string, ResourceType>>;

export function apiVersionOf(type: ResourceType): string {
  return type.group === "" ? type.version : `${type.group}/${type.version}`;
}

/** No namespace means all namespaces. Throws ApiError (404) for a name that would address something else. */
export function resourcePath(type: ResourceType, target: ResourceTarget = {}): string {
  const root = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const namespace = target.namespace === undefined ? "" : `/namespaces/${pathSegment(target.namespace)}`;
  const name = target.name === undefined ? "" : `/${pathSegment(target.name)}`;
  const subresource = target.subresource === undefined ? "" : `/${target.subresource}`;
  return `${root}${namespace}/${type.plural}${name}${subresource}`;
}

function pathSegment(name: string): string {
  if (name === "" || name === "." || name === "..") {
    // Like the API server's answer for an impossible name.
    throw new ApiError(`Cannot ask the API server for "${name}": no object has this name.`, {
      status: 404,
      reason: "NotFound",
    });
  }
  return encodeURIComponent(name);
}

/** `namespace/name`, or `name` for a cluster-scoped object: the key of stores and queues. */
export function keyOf(object: { readonly metadata: { readonly namespace?: string; readonly name: string } }): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export function splitKey(key: string): { readonly namespace?: string; readonly name: string } {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** A client-node type in JSON, with dates as text: rendered objects say `satisfies Wire<V1Lease>`. */
export type Wire<T> = T extends Date ? string
  : T extends readonly (infer Item)[] ? readonly Wire<Item>[]
  : T extends object ? { readonly [Member in keyof T]: Wire<T[Member]> }
  : T;
