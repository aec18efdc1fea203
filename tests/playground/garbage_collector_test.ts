import assert from "node:assert/strict";
import { silentLogger } from "../../lib/log.ts";
import type { Cluster } from "../../playground/cluster.ts";
import { createObject } from "../../playground/create_object.ts";
import { deleteObject } from "../../playground/delete_object.ts";
import { openGarbageCollector } from "../../playground/owners.ts";
import type { JsonObject } from "../../playground/json_path.ts";
import { waitFor } from "../../playground/store.ts";
import { patchObject } from "../../playground/update_object.ts";
import { kindNamed } from "../../playground/kinds.ts";
import { makeCluster } from "./make.ts";

const CONFIG_MAP = kindNamed("ConfigMap");
const BUILD = kindNamed("MachineOSBuild");
const BUILD_VERSION = "machineconfiguration.openshift.io/v1";

async function createBuild(cluster: Cluster, finalizers: readonly string[]): Promise<JsonObject> {
  const body = { metadata: { name: "build", finalizers } };
  const { metadata: { name, uid } } = await createObject(cluster, BUILD, { body });
  return { apiVersion: BUILD_VERSION, kind: "MachineOSBuild", name, uid };
}

async function createChild(cluster: Cluster, name: string, metadata: JsonObject): Promise<void> {
  await createObject(cluster, CONFIG_MAP, { namespace: "default", body: { metadata: { name, ...metadata } } });
}

function until(cluster: Cluster, condition: () => boolean): Promise<void> {
  return waitFor(cluster.store, condition, AbortSignal.timeout(60_000));
}

function isThere(cluster: Cluster, name: string): boolean {
  return cluster.store.get(CONFIG_MAP, `default/${name}`) !== undefined;
}

Deno.test("openGarbageCollector() ends a deletion in the foreground once nothing is left that the object owns", async () => {
  const cluster = await makeCluster();
  await using _collector = openGarbageCollector(cluster, { log: silentLogger });
  const owner = { ...await createBuild(cluster, ["foregroundDeletion"]), blockOwnerDeletion: true };
  await createChild(cluster, "free", { ownerReferences: [owner] });
  await createChild(cluster, "held", { ownerReferences: [owner], finalizers: ["x.io/hold"] });
  const other = { ...owner, uid: "other" };
  await createChild(cluster, "shared", { ownerReferences: [owner, other] });
  await createChild(cluster, "foreign", { ownerReferences: [other] });
  const left = await deleteObject(cluster, BUILD, { name: "build" });
  assert.notEqual(left.metadata.deletionTimestamp, undefined);
  await until(cluster, () => !isThere(cluster, "free"));
  assert.notEqual(cluster.store.get(BUILD, "build"), undefined, "it waits for what it owns");
  const patch = { patchKind: "merge", body: '{"metadata":{"finalizers":null}}' } as const;
  await patchObject(cluster, CONFIG_MAP, { namespace: "default", name: "held", ...patch });
  await until(cluster, () => cluster.store.get(BUILD, "build") === undefined);
  assert.deepEqual(["held", "foreign", "shared"].map((name) => isThere(cluster, name)), [false, true, true]);
  assert.deepEqual(cluster.store.get(CONFIG_MAP, "default/shared")?.metadata["ownerReferences"], [other]);
});

Deno.test("openGarbageCollector() leaves other finalizers, and waits for nothing that does not block its owner", async () => {
  const cluster = await makeCluster();
  await using _collector = openGarbageCollector(cluster, { log: silentLogger });
  const owner = await createBuild(cluster, ["x.io/mine", "foregroundDeletion"]);
  await createChild(cluster, "held", { ownerReferences: [owner], finalizers: ["x.io/hold"] });
  await deleteObject(cluster, BUILD, { name: "build" });
  const finalizers = (): unknown => cluster.store.get(BUILD, "build")?.metadata["finalizers"];
  await until(cluster, () => JSON.stringify(finalizers()) === '["x.io/mine"]');
  assert.equal(isThere(cluster, "held"), true);
});
