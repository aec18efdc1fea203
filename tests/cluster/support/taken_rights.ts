// Rights taken from an installation that runs, and given back.
import assert from "node:assert/strict";
import { type ClusterAccess, expectStatus, read } from "./cluster_access.ts";
import { isAllowed } from "./rights.ts";
import { waitUntil } from "./wait.ts";

const ACCOUNT = "system:serviceaccount:archway-system:archway";
export const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const POD_ROLES = ["archway-pods", "archway-uninstall"];

/** Takes a verb on pods from Archway's ClusterRoles, and waits until it is refused; gives the way to put it back. */
export async function forbid(cluster: ClusterAccess, verb: string): Promise<() => Promise<void>> {
  const undo = await Promise.all(
    POD_ROLES.map((role) =>
      change(cluster, `${ROLES}/${role}`, (rules) =>
        rules.map((rule) => {
          const [verbs, resources] = [read(rule, "verbs"), read(rule, "resources")];
          if (!Array.isArray(verbs) || !Array.isArray(resources) || !resources.includes("pods")) return rule;
          return { ...Object(rule), verbs: verbs.filter((one) => one !== verb) };
        }))
    ),
  );
  const allow = async (): Promise<void> => {
    for (const restore of undo) await restore();
  };
  // The API server's authorizer follows the roles by a watch of its own.
  const right = { verb, resource: "pods", name: undefined, namespace: undefined };
  const isRefused = async (): Promise<boolean> => !await isAllowed(cluster, { user: ACCOUNT }, right);
  await waitUntil(`${verb} pods to be refused`, isRefused).catch(async (error: unknown) => {
    await allow();
    throw error;
  });
  return allow;
}

/** Changes the rules of a ClusterRole or Role; gives the way to put them back. */
export async function change(
  cluster: ClusterAccess,
  role: string,
  next: (rules: readonly unknown[]) => readonly unknown[],
): Promise<() => Promise<void>> {
  const answer = await cluster.request("GET", role);
  expectStatus(`read the role "${role}"`, answer, [200]);
  const rules = read(answer.body, "rules");
  assert.ok(Array.isArray(rules));
  const set = async (value: readonly unknown[]): Promise<void> => {
    await cluster.patch(role, [{ op: "replace", path: "/rules", value }]);
  };
  await set(next(rules));
  return () => set(rules);
}
