import assert from "node:assert/strict";
import { parseManifest } from "../../manifests/generate/kustomize.ts";
import { findIdle, findMissing, readRights, readUses, renderRight } from "../cluster/support/rights.ts";

const ROLES = parseManifest(`
kind: ClusterRole
apiVersion: rbac.authorization.k8s.io/v1
metadata: { name: reader }
rules:
  - { apiGroups: [""], resources: [pods], verbs: [list] }
  - { apiGroups: [x.io], resources: [things], resourceNames: [one], verbs: [create, patch, watch] }
---
kind: ClusterRoleBinding
apiVersion: rbac.authorization.k8s.io/v1
metadata: { name: reader }
roleRef: { kind: ClusterRole, name: reader }
subjects: [{ kind: ServiceAccount, name: me }]
`);

function line(verb: string, objectRef: unknown, code = 200): string {
  const user = { username: "me" };
  const stage = "ResponseComplete";
  return JSON.stringify({ stage, verb, user, objectRef, requestURI: "/", responseStatus: { code } });
}

Deno.test("findMissing() and findIdle() name what was refused and what nobody used", () => {
  const log = [
    line("delete", { resource: "pods", name: "p", namespace: "n" }, 403),
    line("list", { resource: "things", apiGroup: "x.io" }),
    line("patch", { resource: "things", apiGroup: "x.io", name: "two" }),
    line("get", undefined),
  ].join("\n");
  const [rights, uses] = [readRights(ROLES, "me"), readUses(log, "me")];
  assert.deepEqual(findMissing(rights, uses).map(({ verb }) => verb), ["delete", "list", "patch"]);
  assert.deepEqual(findIdle(rights, uses).map(renderRight), [
    "list pods (role reader)",
    ...["create", "patch", "watch"].map((verb) => `${verb} things.x.io "one" (role reader)`),
  ]);
  assert.deepEqual(readUses(log, "somebody else"), []);
});
