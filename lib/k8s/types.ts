// The types of the Kubernetes API that Archway's edges and controllers share.
import { ApiError } from "./errors.ts";

/** The owner of an object; the garbage collector removes the object with its owner. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Metadata of any object, as far as Archway reads it. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

/** Any object of the API. Other members are unknown until parsed. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly [member: string]: unknown;
}

/** A page of a list. */
export interface KubeList {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  /** Present when more pages follow. */
  readonly continue?: string;
  /** The size of its JSON; absent where it was not counted. */
  readonly bytes?: number;
}

/** A resource of the API. `group` is empty for core/v1. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Which object, or which collection when `name` is absent. */
export interface ResourceTarget {
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

function resource(
  group: string,
  version: string,
  kind: string,
  plural: string,
  scope: "Namespaced" | "Cluster",
): ResourceType {
  return { group, version, kind, plural, namespaced: scope === "Namespaced" };
}

const MACHINE = "machine.openshift.io";
const MULTIARCH = "multiarch.openshift.io";

/** The kinds that Archway reads or writes. */
export const Resource = {
  pods: resource("", "v1", "Pod", "pods", "Namespaced"),
  secrets: resource("", "v1", "Secret", "secrets", "Namespaced"),
  nodes: resource("", "v1", "Node", "nodes", "Cluster"),
  namespaces: resource("", "v1", "Namespace", "namespaces", "Cluster"),
  serviceAccounts: resource("", "v1", "ServiceAccount", "serviceaccounts", "Namespaced"),
  services: resource("", "v1", "Service", "services", "Namespaced"),
  configMaps: resource("", "v1", "ConfigMap", "configmaps", "Namespaced"),
  events: resource("", "v1", "Event", "events", "Namespaced"),
  leases: resource("coordination.k8s.io", "v1", "Lease", "leases", "Namespaced"),
  deployments: resource("apps", "v1", "Deployment", "deployments", "Namespaced"),
  statefulSets: resource("apps", "v1", "StatefulSet", "statefulsets", "Namespaced"),
  daemonSets: resource("apps", "v1", "DaemonSet", "daemonsets", "Namespaced"),
  jobs: resource("batch", "v1", "Job", "jobs", "Namespaced"),
  cronJobs: resource("batch", "v1", "CronJob", "cronjobs", "Namespaced"),
  podDisruptionBudgets: resource("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "Namespaced"),
  mutatingWebhooks: resource(
    "admissionregistration.k8s.io",
    "v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
    "Cluster",
  ),
  validatingWebhooks: resource(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    "Cluster",
  ),
  clusterRoles: resource("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", "Cluster"),
  clusterRoleBindings: resource(
    "rbac.authorization.k8s.io",
    "v1",
    "ClusterRoleBinding",
    "clusterrolebindings",
    "Cluster",
  ),
  customResourceDefinitions: resource(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    "Cluster",
  ),
  clusterConfigs: resource(MULTIARCH, "v1beta1", "ClusterPodPlacementConfig", "clusterpodplacementconfigs", "Cluster"),
  namespaceConfigs: resource(MULTIARCH, "v1beta1", "PodPlacementConfig", "podplacementconfigs", "Namespaced"),
  enoexecEvents: resource(MULTIARCH, "v1beta1", "ENoExecEvent", "enoexecevents", "Namespaced"),
  serviceMonitors: resource("monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors", "Namespaced"),
  prometheusRules: resource("monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules", "Namespaced"),
  upgradeConfigs: resource("upgrade.managed.openshift.io", "v1alpha1", "UpgradeConfig", "upgradeconfigs", "Namespaced"),
  clusterVersions: resource("config.openshift.io", "v1", "ClusterVersion", "clusterversions", "Cluster"),
  clusterOperators: resource("config.openshift.io", "v1", "ClusterOperator", "clusteroperators", "Cluster"),
  machineConfigPools: resource(
    "machineconfiguration.openshift.io",
    "v1",
    "MachineConfigPool",
    "machineconfigpools",
    "Cluster",
  ),
  machineConfigs: resource("machineconfiguration.openshift.io", "v1", "MachineConfig", "machineconfigs", "Cluster"),
  machineOsBuilds: resource("machineconfiguration.openshift.io", "v1", "MachineOSBuild", "machineosbuilds", "Cluster"),
  imageConfigs: resource("config.openshift.io", "v1", "Image", "images", "Cluster"),
  imageStreamTags: resource("image.openshift.io", "v1", "ImageStreamTag", "imagestreamtags", "Namespaced"),
  fileIntegrities: resource(
    "fileintegrity.openshift.io",
    "v1alpha1",
    "FileIntegrity",
    "fileintegrities",
    "Namespaced",
  ),
  machineSets: resource(MACHINE, "v1beta1", "MachineSet", "machinesets", "Namespaced"),
  machines: resource(MACHINE, "v1beta1", "Machine", "machines", "Namespaced"),
  machineOsConfigs: resource(
    "machineconfiguration.openshift.io",
    "v1",
    "MachineOSConfig",
    "machineosconfigs",
    "Cluster",
  ),
  controllerConfigs: resource(
    "machineconfiguration.openshift.io",
    "v1",
    "ControllerConfig",
    "controllerconfigs",
    "Cluster",
  ),
} as const satisfies Readonly<Record<string, ResourceType>>;

/** `v1` or `group/version`. */
export function apiVersionOf(type: ResourceType): string {
  return type.group === "" ? type.version : `${type.group}/${type.version}`;
}

/**
 * URL path of an object or a collection. A namespaced kind without namespace means all namespaces. Throws ApiError
 * (404) for a name that would address another object or collection: empty, or a segment that URL parsers resolve.
 */
export function resourcePath(type: ResourceType, target: ResourceTarget = {}): string {
  const root = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const namespace = target.namespace === undefined ? "" : `/namespaces/${pathSegment(target.namespace)}`;
  const name = target.name === undefined ? "" : `/${pathSegment(target.name)}`;
  const subresource = target.subresource === undefined ? "" : `/${target.subresource}`;
  return `${root}${namespace}/${type.plural}${name}${subresource}`;
}

function pathSegment(name: string): string {
  if (name === "" || name === "." || name === "..") {
    // The API server's answer for a name that no object can have.
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

/** The parts of a {@link keyOf} key. */
export function splitKey(key: string): { readonly namespace?: string; readonly name: string } {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
