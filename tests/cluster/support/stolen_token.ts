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
