// What a ServiceAccount was granted against what the audit log says it did: rights that are missing, rights that are idle.
import assert from "node:assert/strict";
import * as z from "zod";
import type { ManifestObject } from "../../../manifests/generate/kustomize.ts";
import { parseAuditLog } from "./audit_log.ts";
import { type ClusterAccess, read } from "./cluster_access.ts";

/** One verb on one resource, the finest thing a role can say. `name` and `namespace` are undefined for all. */
export interface Right {
  /** `pods`, `deployments.apps`, `clusterpodplacementconfigs.multiarch.openshift.io/status`. */
  readonly resource: string;
  readonly verb: string;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly role: string;
}

export interface Use {
  readonly resource: string;
  readonly verb: string;
  readonly name: string | undefined;
  /** Empty for what is in no namespace. */
  readonly namespace: string;
  readonly status: number;
}

const RULES = z.array(z.object({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  verbs: z.array(z.string()),
  resourceNames: z.array(z.string()).optional(),
}));
const SUBJECTS = z.array(z.looseObject({ kind: z.string(), name: z.string() }));
const ROLE_REF = z.looseObject({ kind: z.string(), name: z.string() });

export function readRights(objects: readonly ManifestObject[], account: string): readonly Right[] {
  return objects.filter(({ kind }) => kind.endsWith("RoleBinding")).flatMap((binding) => {
    if (!SUBJECTS.parse(binding.subjects).some(({ name }) => name === account)) return [];
    const { kind, name: role } = ROLE_REF.parse(binding.roleRef);
    const found = objects.find((object) => object.kind === kind && object.metadata.name === role);
    if (found === undefined) throw new Error(`Cannot find ${kind} "${role}"`);
    return RULES.parse(found.rules).flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.flatMap((verb) =>
            (resourceNames ?? [undefined]).map((name) => ({
              resource: fullName(resource, group),
              verb,
              name,
              namespace: binding.kind === "RoleBinding" ? binding.metadata.namespace : undefined,
              role,
            }))
          )
        )
      )
    );
  });
}

/** The account's requests. A patch that was answered 201 made the object: server-side apply needs `create` as well. */
export function readUses(auditLog: string, username: string): readonly Use[] {
  return parseAuditLog(auditLog, username).flatMap((request) => {
    const { user, verb, group, resource, subresource, namespace, status } = request;
    if (user !== username || resource === "") return [];
    // The API server names the object of a list or watch that selects it by `metadata.name`, too.
    const name = request.name === "" ? undefined : request.name;
    const use = { resource: fullName(resource, group, subresource), verb, name, namespace, status };
    return verb === "patch" && status === 201 ? [use, { ...use, verb: "create" }] : [use];
  });
}

export function findMissing(rights: readonly Right[], uses: readonly Use[]): readonly Use[] {
  return uses.filter((use) => !isLookForLeftOvers(use) && !rights.some((right) => allows(right, use)));
}

/** Whether the MTO left Deployments behind is looked up by each new leader, which goes on where it may not. */
function isLookForLeftOvers({ verb, resource, name = "", status }: Use): boolean {
  const names = ["pod-placement-controller", "enoexec-event-handler-controller"];
  return status === 403 && verb === "get" && resource === "deployments.apps" && names.includes(name);
}

export function findIdle(rights: readonly Right[], uses: readonly Use[]): readonly Right[] {
  return rights.filter((right) => !uses.some((use) => allows(right, use)));
}

/** `get secrets "archway-tls" in archway-system (role archway-self-tls)`. */
export function renderRight({ verb, resource, name, namespace, role }: Right): string {
  const which = name === undefined ? "" : ` "${name}"`;
  return `${verb} ${resource}${which}${namespace === undefined ? "" : ` in ${namespace}`} (role ${role})`;
}

export function renderUse({ verb, resource, name, namespace, status }: Use): string {
  return `${verb} ${resource} ${name ?? ""} ${namespace} ${status}`;
}

/** Fails where a use had no right, or a right no use but for those that are excused, by their words. */
export function assertUsed(rights: readonly Right[], uses: readonly Use[], excused: readonly string[]): void {
  assert.deepEqual([...new Set(findMissing(rights, uses).map(renderUse))], []);
  assert.deepEqual(findIdle(rights, uses).map(renderRight).filter((right) => !excused.includes(right)), []);
}

/** Whether the roles that are there allow it. */
export async function isAllowed(
  cluster: ClusterAccess,
  { user, groups = [] }: { readonly user: string; readonly groups?: readonly string[] },
  { verb, resource, name, namespace }: Omit<Right, "role">,
): Promise<boolean> {
  const [whole = "", subresource] = resource.split("/");
  const [plural = "", ...group] = whole.split(".");
  const resourceAttributes = { verb, group: group.join("."), resource: plural, subresource, name, namespace };
  const review = { spec: { user, groups, resourceAttributes } };
  const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
  return read(await cluster.create(path, review), "status", "allowed") === true;
}

function allows(right: Right, use: Use): boolean {
  return right.resource === use.resource && right.verb === use.verb &&
    (right.name === undefined || right.name === use.name) &&
    (right.namespace === undefined || right.namespace === use.namespace);
}

function fullName(resource: string, group: string, subresource = ""): string {
  const [plural = "", own = ""] = resource.split("/");
  const sub = subresource === "" ? own : subresource;
  return `${group === "" ? plural : `${plural}.${group}`}${sub === "" ? "" : `/${sub}`}`;
}
