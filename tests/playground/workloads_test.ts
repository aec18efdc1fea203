import assert from "node:assert/strict";
import { keyOf, Resource } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import type { Cluster } from "../../playground/cluster.ts";
import { createObject } from "../../playground/create_object.ts";
import { deleteObject } from "../../playground/delete_object.ts";
import { numberAtPath, valueAtPath } from "../../playground/json_path.ts";
import { openGarbageCollector } from "../../playground/owners.ts";
import { waitFor } from "../../playground/store.ts";
import { JobLabel, openWorkloads } from "../../playground/workloads.ts";
import { patchObject } from "../../playground/update_object.ts";
import { kindNamed } from "../../playground/kinds.ts";
import { makeCluster, podBody } from "./make.ts";

const DEPLOYMENT = kindNamed("Deployment");

/** Resolves at the write after which there are so many pods and the status says so. */
function untilPods(cluster: Cluster, count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = (): void => {
    const deployments = cluster.store.list(Resource.deployments);
    const reported = deployments.every((each) => numberAtPath(each, "status", "replicas") === count);
    if (reported && cluster.store.list(Resource.pods).length === count) resolve();
  };
  cluster.store.subscribe(check);
  check();
  return promise;
}

Deno.test("openWorkloads() keeps as many pods as a Deployment wants, and none after it", async () => {
  const cluster = await makeCluster();
  await using _workloads = openWorkloads(cluster, { log: silentLogger });
  await using _collector = openGarbageCollector(cluster, { log: silentLogger });
  const template = { metadata: { labels: { app: "web" } }, spec: podBody("", {}).spec };
  const body = { metadata: { name: "web" }, spec: { replicas: 3, template } };
  await createObject(cluster, DEPLOYMENT, { namespace: "default", body });
  await untilPods(cluster, 3);
  const [pod] = cluster.store.list(Resource.pods);
  assert.match(pod?.metadata.name ?? "", /^web-/);
  assert.equal(valueAtPath(pod, "metadata", "ownerReferences", 0, "controller"), true);
  const patch = { patchKind: "merge", body: '{"spec":{"replicas":1}}' } as const;
  await patchObject(cluster, DEPLOYMENT, { namespace: "default", name: "web", ...patch });
  await untilPods(cluster, 1);
  await deleteObject(cluster, DEPLOYMENT, { namespace: "default", name: "web" });
  await untilPods(cluster, 0);
});

Deno.test("openWorkloads() gives a Job one pod, and is over with it once that has succeeded", async () => {
  const cluster = await makeCluster();
  await using _workloads = openWorkloads(cluster, { log: silentLogger });
  const job = (): unknown => cluster.store.get(Resource.jobs, "default/one");
  const until = (holds: () => boolean): Promise<void> => waitFor(cluster.store, holds, AbortSignal.timeout(60_000));
  const body = { metadata: { name: "one" }, spec: { template: { spec: podBody("").spec } } };
  await createObject(cluster, kindNamed("Job"), { namespace: "default", body });
  await until(() => numberAtPath(job(), "status", "active") === 1);
  const [pod] = cluster.store.list(Resource.pods);
  assert.equal(pod?.metadata.labels?.[JobLabel.name], "one");
  assert.ok(pod !== undefined);
  cluster.store.put(Resource.pods, { ...pod, status: { phase: "Succeeded" } });
  await until(() => valueAtPath(job(), "status", "conditions", 0, "type") === "Complete");
  cluster.store.remove(Resource.pods, keyOf(pod));
  const none = { metadata: { name: "z" }, spec: { replicas: 0 } };
  await createObject(cluster, DEPLOYMENT, { namespace: "default", body: none });
  await until(() => numberAtPath(cluster.store.get(Resource.deployments, "default/z"), "status", "replicas") === 0);
  assert.deepEqual(cluster.store.list(Resource.pods), []);
});
