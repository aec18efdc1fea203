// Kinds that have just come, and whose objects may not own others yet.
import { type ClusterAccess, read } from "./cluster_access.ts";
import { waitUntil } from "./wait.ts";

/**
 * Waits until objects of a kind are taken as owners: OwnerReferencesPermissionEnforcement reads every 30 s which kinds there are,
 * and refuses owners of a kind that has come since. Source: k8s.io/apiserver v0.36.3, pkg/server/options/admission.go.
 */
export async function waitToOwn(access: ClusterAccess, path: string): Promise<void> {
  const [, apiVersion = "", plural] = /^\/apis\/(.+)\/([^/]+)$/.exec(path) ?? [];
  const listed = read((await access.request("GET", `/apis/${apiVersion}`)).body, "resources");
  const kind = read(Array.isArray(listed) ? listed.find((one) => read(one, "name") === plural) : undefined, "kind");
  const owner = { apiVersion, kind, name: "owner", uid: crypto.randomUUID(), blockOwnerDeletion: true };
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "owned-", ownerReferences: [owner] } };
  const dryRun = "/api/v1/namespaces/default/configmaps?dryRun=All";
  await waitUntil(`${path} to own`, async () => (await access.request("POST", dryRun, body)).status === 201);
}
