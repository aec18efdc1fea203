// The kinds that the playground's API server serves: one row each. Discovery, routes and storage read this table.
import { Resource, type ResourceType } from "../k8s/types.ts";

/** A kind with what discovery says of it. */
export interface ServedKind extends ResourceType {
  /** What kubectl accepts instead of the plural. */
  readonly shortNames: readonly string[];
  /** Whether `/status` is a subresource, so that writes of the main resource leave the status alone. */
  readonly hasStatus: boolean;
}

function serve(type: ResourceType, options: Partial<Pick<ServedKind, "shortNames" | "hasStatus">> = {}): ServedKind {
  return { ...type, shortNames: options.shortNames ?? [], hasStatus: options.hasStatus ?? false };
}

function extra(
  group: string,
  kind: string,
  rest: { readonly plural: string; readonly namespaced: boolean },
): ServedKind {
  return serve({ group, version: "v1", kind, ...rest });
}

const RBAC = "rbac.authorization.k8s.io";

/** Every served kind. */
export const SERVED_KINDS: readonly ServedKind[] = [
  serve(Resource.pods, { shortNames: ["po"], hasStatus: true }),
  serve(Resource.namespaces, { shortNames: ["ns"], hasStatus: true }),
  serve(Resource.nodes, { shortNames: ["no"], hasStatus: true }),
  serve(Resource.secrets),
  serve(Resource.serviceAccounts, { shortNames: ["sa"] }),
  serve(Resource.services, { shortNames: ["svc"], hasStatus: true }),
  serve(Resource.events, { shortNames: ["ev"] }),
  extra("", "ConfigMap", { plural: "configmaps", namespaced: true }),
  serve(Resource.leases),
  serve(Resource.deployments, { shortNames: ["deploy"], hasStatus: true }),
  serve(Resource.statefulSets, { shortNames: ["sts"], hasStatus: true }),
  serve(Resource.daemonSets, { shortNames: ["ds"], hasStatus: true }),
  serve(Resource.jobs, { hasStatus: true }),
  serve(Resource.cronJobs, { shortNames: ["cj"], hasStatus: true }),
  serve(Resource.mutatingWebhooks),
  serve(Resource.validatingWebhooks),
  serve(Resource.customResourceDefinitions, { shortNames: ["crd"], hasStatus: true }),
  serve(Resource.clusterConfigs, { hasStatus: true }),
  serve(Resource.namespaceConfigs, { hasStatus: true }),
  serve(Resource.enoexecEvents, { hasStatus: true }),
  serve(Resource.upgradeConfigs, { hasStatus: true }),
  serve(Resource.clusterVersions, { hasStatus: true }),
  serve(Resource.clusterOperators, { shortNames: ["co"], hasStatus: true }),
  serve(Resource.machineConfigPools, { shortNames: ["mcp"], hasStatus: true }),
  serve(Resource.machineConfigs, { shortNames: ["mc"] }),
  serve(Resource.machineSets, { hasStatus: true }),
  serve(Resource.machines, { hasStatus: true }),
  serve(Resource.machineOsConfigs, { hasStatus: true }),
  serve(Resource.machineOsBuilds, { hasStatus: true }),
  extra("policy", "PodDisruptionBudget", { plural: "poddisruptionbudgets", namespaced: true }),
  extra(RBAC, "ClusterRole", { plural: "clusterroles", namespaced: false }),
  extra(RBAC, "ClusterRoleBinding", { plural: "clusterrolebindings", namespaced: false }),
  extra(RBAC, "Role", { plural: "roles", namespaced: true }),
  extra(RBAC, "RoleBinding", { plural: "rolebindings", namespaced: true }),
];

/** The kind at a group, version and plural; undefined when it is not served. */
export function findKind(group: string, version: string, plural: string): ServedKind | undefined {
  return SERVED_KINDS.find((kind) => kind.group === group && kind.version === version && kind.plural === plural);
}

/** The kind of that name. Throws when it is not served. */
export function kindNamed(name: string): ServedKind {
  const kind = SERVED_KINDS.find((each) => each.kind === name);
  if (kind === undefined) throw new Error(`Cannot create a "${name}": the playground does not serve that kind.`);
  return kind;
}
