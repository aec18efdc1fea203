// Kinds that have just come, and whose objects may not own others yet.
import { type ClusterAccess, listAt, read } from "./cluster_access.ts";
import { waitUntil } from "./wait.ts";

/** Who may create ConfigMaps and set no finalizers: an admin, who may set all, is never asked which kinds there are. */
const USER = "owner-check";
const NAMESPACE = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
const RIGHTS: readonly (readonly [path: string, body: Readonly<Record<string, unknown>>])[] = [
  [`${NAMESPACE}/roles`, { rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }] }],
  [`${NAMESPACE}/rolebindings`, {
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: USER },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: USER }],
  }],
];

/**
 * Waits until objects of these kinds are taken as owners: OwnerReferencesPermissionEnforcement reads every 30 s which kinds there
 * are, and refuses owners of a kind that has come since. Source: k8s.io/apiserver v0.36.3, pkg/server/options/admission.go, and
 * plugin/pkg/admission/gc of Kubernetes.
 */
export async function waitToOwn(access: ClusterAccess, paths: readonly string[]): Promise<void> {
  for (const [path, body] of RIGHTS) await access.request("POST", path, { metadata: { name: USER }, ...body });
  await Promise.all(paths.map((path) => waitForKind(access, path)));
  for (const [path] of RIGHTS) await access.request("DELETE", `${path}/${USER}`);
}

async function waitForKind(access: ClusterAccess, path: string): Promise<void> {
  const [, apiVersion = "", plural] = /^\/apis\/(.+)\/([^/]+)$/.exec(path) ?? [];
  const listed = listAt(await access.get(`/apis/${apiVersion}`), "resources");
  const kind = read(listed.find((one) => read(one, "name") === plural), "kind");
  const owner = { apiVersion, kind, name: "owner", uid: crypto.randomUUID(), blockOwnerDeletion: true };
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "owned-", ownerReferences: [owner] } };
  const dryRun = "/api/v1/namespaces/default/configmaps?dryRun=All";
  await waitUntil(`${path} to own`, async () => {
    const answer = await access.request("POST", dryRun, body, { asUser: USER });
    return String(read(answer.body, "message")).includes("you can't set finalizers on");
  });
}
