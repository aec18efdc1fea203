// Which workload a template or a pod is counted with, and the bounds of what is held.
import assert from "node:assert/strict";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import { Inventory } from "../../../lib/report/inventory.ts";

interface Owner {
  readonly kind: string;
  readonly name: string;
}

function metadataOf(name: string, owner: Owner | undefined): KubeObject["metadata"] & Record<string, unknown> {
  const ownerReferences = owner === undefined ? [] : [{ ...owner, controller: true, apiVersion: "v1", uid: "u" }];
  return { name, namespace: "shop", ownerReferences };
}

function specOf(...images: readonly string[]): Readonly<Record<string, unknown>> {
  return { containers: images.map((image, at) => ({ name: `c${at}`, image })) };
}

function template(name: string, images: readonly string[], owner?: Owner): KubeObject {
  return { metadata: metadataOf(name, owner), spec: { template: { spec: specOf(...images) } } };
}

function cronJob(name: string, ...images: readonly string[]): KubeObject {
  const spec = { jobTemplate: { spec: { template: { spec: specOf(...images) } } } };
  return { metadata: metadataOf(name, undefined), spec };
}

function pod(name: string, images: readonly string[], owner?: Owner, hash?: string): KubeObject {
  const labels = hash === undefined ? {} : { "pod-template-hash": hash };
  return { metadata: { ...metadataOf(name, owner), labels }, spec: specOf(...images) };
}

function shown(inventory: Inventory): readonly string[] {
  return inventory.workloads().map(({ kind, name, images }) => `${kind} ${name}: ${images.join(" ")}`);
}

Deno.test("Inventory counts pods with the workload that makes them, with the images that only they have", () => {
  const inventory = new Inventory();
  inventory.addTemplate(template("web", ["web:1", "log:1"]), "Deployment");
  inventory.addTemplate(cronJob("nightly", "batch:1"), "CronJob");
  inventory.addTemplate(template("nightly-1", ["batch:1"], { kind: "CronJob", name: "nightly" }), "Job");
  inventory.addTemplate(template("once", ["once:1"]), "Job");
  inventory.addPod(pod("web-7f-1", ["web:1", "log:1", "mesh:1"], { kind: "ReplicaSet", name: "web-7f" }, "7f"));
  inventory.addPod(pod("web-6e-1", ["web:0"], { kind: "ReplicaSet", name: "web-6e" }, "6e"));
  inventory.addPod(pod("nightly-1-x", ["batch:1"], { kind: "Job", name: "nightly-1" }));
  assert.deepEqual(shown(inventory), [
    "CronJob nightly: batch:1",
    "Deployment web: web:1 log:1 mesh:1 web:0",
    "Job once: once:1",
  ]);
});

Deno.test("Inventory names pods of unknown owners after these, and pods without owner or of the kubelet after themselves", () => {
  const inventory = new Inventory();
  inventory.addPod(pod("set-1", ["a"], { kind: "ReplicaSet", name: "set" }));
  inventory.addPod(pod("alone-6e-1", ["a"], { kind: "ReplicaSet", name: "alone-6e" }, "6e"));
  inventory.addPod(pod("clone-1", ["b"], { kind: "CloneSet", name: "clone" }));
  inventory.addPod(pod("bare", ["c"]));
  inventory.addPod(pod("etcd-n1", ["d"], { kind: "Node", name: "n1" }));
  assert.deepEqual(shown(inventory), [
    "CloneSet clone: b",
    "Pod bare: c",
    "Pod etcd-n1: d",
    "ReplicaSet alone-6e: a",
    "ReplicaSet set: a",
  ]);
});

Deno.test("Inventory leaves out Jobs that have ended", () => {
  const inventory = new Inventory();
  const ended = (type: string): KubeObject => ({
    ...template(type.toLowerCase(), ["a"]),
    status: { conditions: [{ type, status: "True" }] },
  });
  for (const type of ["Complete", "Failed", "Suspended"]) inventory.addTemplate(ended(type), "Job");
  assert.deepEqual(shown(inventory), ["Job suspended: a"]);
});

Deno.test("Inventory holds as many workloads and images as it may, and reports when there are more", () => {
  const inventory = new Inventory({ workloads: 2, images: 3 });
  inventory.addTemplate(template("a", ["1", "2"]), "Deployment");
  inventory.addPod(pod("a-7f-1", ["1", "2"], { kind: "ReplicaSet", name: "a-7f" }, "7f"));
  assert.equal(inventory.isComplete, true);
  inventory.addTemplate(template("b", ["3", "4"]), "Deployment");
  assert.equal(inventory.isComplete, false);
  inventory.addTemplate(template("c", ["3"]), "Deployment");
  inventory.addTemplate(template("d", ["1"]), "Deployment");
  assert.deepEqual(shown(inventory), ["Deployment a: 1 2", "Deployment c: 3"]);
});
