// Tokens of Archway's accounts in other hands, and what admission policies say to them.
import assert from "node:assert/strict";
import { AdminConnection, type ClusterAccess, expectStatus, read } from "./cluster_access.ts";
import { waitUntil } from "./wait.ts";

/** Sends a request with a token, and gives the message of the policy, or about owners, that refuses it; empty where it is done. */
export type Try = (method: string, path: string, body: unknown, contentType?: string) => Promise<string>;

/** Of a policy, or of OwnerReferencesPermissionEnforcement, which is asked before them. */
const REFUSAL =
  /(?:ValidatingAdmissionPolicy '[^']+' with binding '[^']+' denied request: |(?=cannot set an ownerRef))(.*)/;

export async function holder(
  cluster: ClusterAccess,
  account: { readonly namespace: string; readonly name: string },
  stack: DisposableStack,
): Promise<Try> {
  const kubeconfig: unknown = JSON.parse(await Deno.readTextFile(await cluster.serviceAccountKubeconfig(account)));
  const adminToken = String(read(kubeconfig, "users", 0, "user", "token"));
  const { access } = stack.use(new AdminConnection({ ...cluster, adminToken }));
  return async (method, path, body, contentType = "application/json") => {
    const answer = await access.request(method, path, body, { contentType });
    const words = String(read(answer.body, "message"));
    const [, message] = REFUSAL.exec(words) ?? [];
    if (message === undefined) expectStatus(`${method} ${path}`, answer, [200, 201]);
    return message ?? "";
  };
}

export type Patch = (path: string, value: unknown, query?: string) => Promise<string>;

export function patchOf(account: Try, object: string): Patch {
  return (path, value, query = "") =>
    account("PATCH", `${object}${query}`, [{ op: "add", path, value }], "application/json-patch+json");
}

export type Refused = readonly (readonly [path: string, value: unknown, message: RegExp])[];

/** The API server compiles policies some time after they were applied. */
export async function assertRefused(patch: Patch, rows: Refused): Promise<void> {
  for (const [path, value, message] of rows) {
    await waitUntil(`${path} to be refused`, async () => await patch(path, value, "?dryRun=All") !== "");
    assert.match(await patch(path, value), message, path);
  }
}

interface ForeignKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: "Cluster" | "Namespaced";
}

/** A kind of another product with a status, of any shape, and one object of it. */
export async function createForeign(
  cluster: ClusterAccess,
  { group, version, kind, plural, scope }: ForeignKind,
  { path, object }: { readonly path: string; readonly object: Readonly<Record<string, unknown>> },
): Promise<void> {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const definition = {
    ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
    metadata: {
      name: `${plural}.${group}`,
      annotations: { "api-approved.kubernetes.io": "unapproved, for a test" },
    },
    spec: {
      ...{ group, scope },
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
  await cluster.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  await waitUntil("the kind to be served", async () => {
    const body = { apiVersion: `${group}/${version}`, kind, ...object };
    const { status } = await cluster.request("POST", path, body);
    return status === 201;
  });
}
