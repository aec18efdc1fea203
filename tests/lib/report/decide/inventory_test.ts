import assert from "node:assert/strict";
import type { KubeObject } from "../../../../lib/k8s/types.ts";
import { Inventory } from "../../../../lib/report/decide/inventory.ts";
import { nodeAffinity } from "../../placement/decide/make.ts";

const LIMITS = { workloads: 100, images: 100, bytes: 100_000 } as const;

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
  const web = "Deployment web: web:1 log:1 mesh:1 web:0";
  assert.deepEqual(shown(inventory), ["CronJob nightly: batch:1", web, "Job once: once:1"]);
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

Deno.test("Q-03 Inventory tells image volumes from what runs in containers, of templates and of pods", () => {
  const inventory = new Inventory();
  const volumes = ["model:1", "web:1"].map((reference) => ({ name: "v", image: { reference } }));
  const spec = { template: { spec: { ...specOf("web:1"), volumes } } };
  inventory.addTemplate({ metadata: metadataOf("web", undefined), spec }, "Deployment");
  inventory.addPod(pod("web-7f-1", ["web:1", "mesh:1"], { kind: "ReplicaSet", name: "web-7f" }, "7f"));
  const [web] = inventory.workloads();
  assert.deepEqual([web?.images, web?.volumes], [["web:1", "model:1", "mesh:1"], ["model:1"]]);
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
  const inventory = new Inventory({ ...LIMITS, workloads: 2, images: 3 });
  inventory.addTemplate(template("a", ["1", "2"]), "Deployment");
  inventory.addPod(pod("a-7f-1", ["1", "2"], { kind: "ReplicaSet", name: "a-7f" }, "7f"));
  assert.equal(inventory.isComplete, true);
  inventory.addTemplate(template("b", ["3", "4"]), "Deployment");
  assert.equal(inventory.isComplete, false);
  inventory.addTemplate(template("c", ["3"]), "Deployment");
  inventory.addTemplate(template("d", ["1"]), "Deployment");
  assert.deepEqual(shown(inventory), ["Deployment a: 1 2", "Deployment c: 3"]);
});

/** What a namespace may put into a template without a bound, in tens of kilobytes. */
function largeSpec(image: string): Readonly<Record<string, unknown>> {
  const many = Array.from({ length: 400 }, (_, at) => `${at}`.padStart(60, "x"));
  const terms = many.map((key) => ({ matchExpressions: [{ key, operator: "Exists" }] }));
  return {
    ...specOf(image),
    nodeSelector: Object.fromEntries(many.map((key) => [key, "y"])),
    tolerations: many.map((key) => ({ key, operator: "Exists" })),
    affinity: nodeAffinity(terms, terms.map((preference) => ({ weight: 1, preference }))),
    volumes: many.map((name) => ({ name, configMap: { name } })),
  };
}

Deno.test("Inventory keeps of a template only what a report reads, however large the template is", () => {
  const inventory = new Inventory();
  const metadata = { labels: Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`label-${at}`, "y"])) };
  for (let at = 0; at < 20; at++) {
    const spec = { suspend: true, template: { metadata, spec: largeSpec("a") } };
    inventory.addTemplate({ metadata: metadataOf(`job-${at}`, undefined), spec }, "Job");
  }
  inventory.addPod({ metadata: { ...metadataOf("bare", undefined), ...metadata }, spec: largeSpec("b") });
  const workloads = inventory.workloads();
  assert.deepEqual([workloads.length, inventory.isComplete], [21, true]);
  const kept = JSON.stringify(workloads).length;
  assert.ok(kept < 21 * 300, `${kept} bytes`);
});

Deno.test("Q-10 Inventory keeps so many bytes altogether, leaves out what is beyond them, and reports that it did", () => {
  const inventory = new Inventory(LIMITS);
  const long = (letter: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, at) => `${letter.repeat(10_000)}${at}`);
  inventory.addTemplate(template("a", long("a", 5)), "Job");
  assert.equal(inventory.isComplete, true);
  inventory.addTemplate(template("b", long("b", 5)), "Job");
  assert.equal(inventory.isComplete, false);
  inventory.addTemplate(template("c", ["c"]), "Job");
  inventory.addPod(pod("c-1", long("c", 5), { kind: "Job", name: "c" }));
  const secrets = long("s", 20).map((name) => ({ name }));
  const spec = { template: { spec: { ...specOf("d"), imagePullSecrets: secrets } } };
  inventory.addTemplate({ metadata: metadataOf("d", undefined), spec }, "Job");
  assert.deepEqual(inventory.workloads().map(({ name, images }) => [name, images.length]), [["a", 5], ["c", 1]]);
});

Deno.test("Q-10 Inventory holds 1 000 workloads of two images for each hundredth of the 256 MiB of a report", () => {
  const inventory = new Inventory({ bytes: 256 * 2 ** 20 / 100 });
  for (let at = 0; at < 1_000; at++) {
    const sidecar = `registry.example.com/base/sidecar@sha256:${"0".repeat(64)}`;
    inventory.addTemplate(template(`web-${at}`, [`registry.example.com/shop/web-${at}:v1.2.3`, sidecar]), "Deployment");
  }
  assert.deepEqual([inventory.workloads().length, inventory.isComplete], [1_000, true]);
});

Deno.test("Inventory counts every image of every workload, and every Job of a CronJob, towards its bytes", () => {
  const images = Array.from({ length: 10 }, (_, at) => `${at}`);
  const inventory = new Inventory(LIMITS);
  for (let at = 0; at < 20; at++) inventory.addTemplate(template(`web-${at}`, images), "Deployment");
  assert.deepEqual([inventory.workloads().length, inventory.isComplete], [9, false]);
  const cron = new Inventory(LIMITS);
  cron.addTemplate(cronJob("nightly", "batch:1"), "CronJob");
  for (let at = 0; at < 1_500; at++) {
    cron.addTemplate(template(`nightly-${at}`, ["batch:1"], { kind: "CronJob", name: "nightly" }), "Job");
  }
  assert.deepEqual([cron.workloads().length, cron.isComplete], [1, false]);
});

Deno.test("Inventory names a pod after itself where its owner has a name that nothing can have", () => {
  const inventory = new Inventory();
  inventory.addPod(pod("a", ["1"], { kind: "x".repeat(10_000), name: "web" }));
  inventory.addPod(pod("b", ["1"], { kind: "CloneSet", name: "x".repeat(10_000) }));
  assert.deepEqual(shown(inventory), ["Pod a: 1", "Pod b: 1"]);
});
