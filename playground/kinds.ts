// The kinds that the playground's API server serves, and their paths, for discovery, routes and storage.
import { Resource, type ResourceType } from "../lib/k8s/types.ts";

export interface ServedKind extends ResourceType {
  /** Whether `/status` is a subresource, so that writes of the main resource leave the status alone. */
  readonly hasStatus: boolean;
}

const RBAC = { group: "rbac.authorization.k8s.io", version: "v1", namespaced: true } as const;

const WITHOUT_STATUS: readonly ResourceType[] = [
  Resource.secrets,
  Resource.serviceAccounts,
  Resource.configMaps,
  Resource.events,
  Resource.leases,
  Resource.mutatingWebhooks,
  Resource.validatingWebhooks,
  Resource.clusterRoles,
  Resource.clusterRoleBindings,
  { ...RBAC, kind: "Role", plural: "roles" },
  { ...RBAC, kind: "RoleBinding", plural: "rolebindings" },
  Resource.machineConfigs,
];

/** Kinds of products that this cluster does not have: requests get 404, as where they are not installed. */
const MISSING: readonly ResourceType[] = [
  Resource.serviceMonitors,
  Resource.prometheusRules,
  Resource.imageConfigs,
  Resource.imageStreamTags,
  Resource.fileIntegrities,
  Resource.controllerConfigs,
];

const WITH_STATUS = Object.values<ResourceType>(Resource)
  .filter((type) => !WITHOUT_STATUS.includes(type) && !MISSING.includes(type));

export const SERVED_KINDS: readonly ServedKind[] = [...WITH_STATUS, ...WITHOUT_STATUS].map((type) => ({
  ...type,
  hasStatus: WITH_STATUS.includes(type),
}));

export function kindNamed(name: string): ServedKind {
  const kind = SERVED_KINDS.find((each) => each.kind === name);
  if (kind === undefined) throw new Error(`Cannot create a "${name}": the playground does not serve that kind.`);
  return kind;
}

export interface ResourcePath {
  readonly kind: ServedKind;
  /** Undefined: cluster-scoped, or all namespaces. */
  readonly namespace: string | undefined;
  /** Undefined: the collection. */
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** Parses `/api/v1/…` and `/apis/GROUP/VERSION/…`; undefined when nothing is served there. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const [root, ...steps] = path.split("/").filter((step) => step !== "").map(decode);
  const [group, version, ...rest] = root === "api" ? ["", ...steps] : steps;
  if (root !== "api" && root !== "apis") return undefined;
  const scoped = rest[0] === "namespaces" && rest.length >= 3 && rest[2] !== "status" && rest[2] !== "finalize";
  const [plural, name, subresource, ...more] = scoped ? rest.slice(2) : rest;
  const kind = SERVED_KINDS.find((each) => each.group === group && each.version === version && each.plural === plural);
  if (kind === undefined || more.length > 0) return undefined;
  if (scoped ? !kind.namespaced : kind.namespaced && name !== undefined) return undefined;
  if (subresource !== undefined && (subresource !== "status" || !kind.hasStatus)) return undefined;
  return { kind, namespace: scoped ? rest[1] : undefined, name, subresource };
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
