import assert from "node:assert/strict";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import type { Cluster } from "../../playground/cluster.ts";
import { createObject } from "../../playground/create_object.ts";
import { deleteObject } from "../../playground/delete_object.ts";
import { type JsonObject, listAtPath, textAtPath } from "../../playground/json_path.ts";
import { openKubelets } from "../../playground/kubelet.ts";
import { openScheduler } from "../../playground/scheduler.ts";
import { kindNamed } from "../../playground/kinds.ts";
import { addNodes, makeCluster, makeNode, podBody } from "./make.ts";

const POD = kindNamed("Pod");

async function createPod(cluster: Cluster, name: string, spec: JsonObject = {}): Promise<void> {
  await createObject(cluster, POD, { namespace: "default", body: podBody(name, spec) });
}

function podOf(cluster: Cluster, name: string): KubeObject | undefined {
  return cluster.store.get(Resource.pods, `default/${name}`);
}

function scheduledReason(pod: KubeObject | undefined): string | undefined {
  const condition = listAtPath(pod, "status", "conditions").find((each) => textAtPath(each, "type") === "PodScheduled");
  return textAtPath(condition, "reason") ?? textAtPath(condition, "status");
}

Deno.test("openScheduler() marks a pod Unschedulable with one event, and binds it when a node comes", async () => {
  const cluster = await makeCluster();
  addNodes(cluster, makeNode("amd", "amd64"));
  using _scheduler = openScheduler(cluster, { log: silentLogger });
  await createPod(cluster, "p", { nodeSelector: { "kubernetes.io/arch": "arm64" } });
  assert.equal(scheduledReason(podOf(cluster, "p")), "Unschedulable");
  const [event] = cluster.store.list(Resource.events);
  assert.deepEqual([event?.reason, event?.type, event?.count], ["FailedScheduling", "Warning", 1]);
  addNodes(cluster, makeNode("arm", "arm64"));
  assert.equal(textAtPath(podOf(cluster, "p"), "spec", "nodeName"), "arm");
});

Deno.test("openScheduler() spreads equal pods and ignores those of another scheduler", async () => {
  const cluster = await makeCluster();
  addNodes(cluster, makeNode("a", "amd64"), makeNode("b", "amd64"));
  using _scheduler = openScheduler(cluster, { log: silentLogger });
  for (const name of ["p1", "p2", "p3", "p4"]) await createPod(cluster, name);
  const nodes = cluster.store.list(Resource.pods).map((pod) => textAtPath(pod, "spec", "nodeName"));
  assert.deepEqual(nodes, ["a", "b", "a", "b"]);
  await createPod(cluster, "other", { schedulerName: "custom" });
  assert.equal(textAtPath(podOf(cluster, "other"), "spec", "nodeName"), undefined);
});

Deno.test("openKubelets() runs bound pods, fails wrong or missing images, and removes deleted pods", async () => {
  const cluster = await makeCluster();
  addNodes(cluster, makeNode("n", "amd64"));
  using _scheduler = openScheduler(cluster, { log: silentLogger });
  using _kubelets = openKubelets(cluster, {
    pull: (image) =>
      image === "arm"
        ? { kind: "runs", architectures: ["arm64"] }
        : { kind: image === "missing" ? "missing" : "unknown" },
  });
  for (const image of ["fine", "arm", "missing"]) {
    await createPod(cluster, image, { containers: [{ name: "main", image }] });
  }
  const state = (name: string): unknown => {
    const pod = podOf(cluster, name);
    return textAtPath(pod, "status", "containerStatuses", 0, "state", "waiting", "reason") ??
      textAtPath(pod, "status", "phase");
  };
  assert.deepEqual(["fine", "arm", "missing"].map(state), ["Running", "CrashLoopBackOff", "ErrImagePull"]);
  await deleteObject(cluster, POD, { namespace: "default", name: "fine" });
  assert.equal(podOf(cluster, "fine"), undefined);
});
