// Deployments become pods.
import assert from "node:assert/strict";
import { Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import type { Cluster } from "../../../lib/playground/cluster.ts";
import { createObject } from "../../../lib/playground/create_object.ts";
import { deleteObject } from "../../../lib/playground/delete_object.ts";
import { numberAt, valueAt } from "../../../lib/playground/json_value.ts";
import { openWorkloads } from "../../../lib/playground/workloads.ts";
import { patchObject } from "../../../lib/playground/update_object.ts";
import { kindNamed, makeCluster, podBody } from "./make.ts";

const DEPLOYMENT = kindNamed("Deployment");

/** Resolves at the write after which there are so many pods and the status says so. */
function untilPods(cluster: Cluster, count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = (): void => {
    const deployments = cluster.store.list(Resource.deployments);
    const reported = deployments.every((each) => numberAt(each, "status", "replicas") === count);
    if (reported && cluster.store.list(Resource.pods).length === count) resolve();
  };
  cluster.store.subscribe(check);
  check();
  return promise;
}

Deno.test("openWorkloads() keeps as many pods as a Deployment wants, and none after it", async () => {
  const cluster = await makeCluster();
  await using _workloads = openWorkloads(cluster, { log: silentLogger });
  const template = { metadata: { labels: { app: "web" } }, spec: podBody("", {}).spec };
  const body = { metadata: { name: "web" }, spec: { replicas: 3, template } };
  await createObject(cluster, DEPLOYMENT, { namespace: "default", body });
  await untilPods(cluster, 3);
  const [pod] = cluster.store.list(Resource.pods);
  assert.match(pod?.metadata.name ?? "", /^web-/);
  assert.equal(valueAt(pod, "metadata", "ownerReferences", 0, "controller"), true);
  const patch = { patchKind: "merge", body: '{"spec":{"replicas":1}}' } as const;
  await patchObject(cluster, DEPLOYMENT, { namespace: "default", name: "web", ...patch });
  await untilPods(cluster, 1);
  await deleteObject(cluster, DEPLOYMENT, { namespace: "default", name: "web" });
  await untilPods(cluster, 0);
});
