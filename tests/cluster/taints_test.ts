import assert from "node:assert/strict";
import { sizeOf } from "../support/form.ts";
import { type ClusterAccess, expectStatus, read } from "./support/cluster_access.ts";
import { CONFIG, workload } from "./support/objects.ts";
import { createDeployment, createPods, isScheduled, listPods, waitForPods } from "./support/pods.ts";
import { FROZEN, refuseUpdates } from "./support/refused_updates.ts";
import { SHARED_NODES } from "./support/shared_nodes.ts";
import {
  archwayRequests,
  openTaintBed,
  runTaints,
  startTainting,
  taintsByNode,
  toleratedByPod,
  waitForPhase,
  waitForTaints,
} from "./support/taint_bed.ts";
import { change } from "./support/taken_rights.ts";
import { waitUntil } from "./support/wait.ts";
import { index, openWorkingBed, type WalkBed } from "./support/walk_bed.ts";
import { settingsFlag } from "../support/settings_file.ts";

const ALL = "amd64,arm64,ppc64le,s390x";
const RIGHT = Object.fromEntries(SHARED_NODES.map(({ name, arch }) => [name, `${arch}:NoSchedule`]));
const NONE = Object.fromEntries(SHARED_NODES.map(({ name }) => [name, ""]));
const IMAGE = "registry.invalid/team/app:1";
const PODS = sizeOf({ short: 200, long: 1_000 });

Deno.test("taints: mixed nodes, new pods of every kind, a node added, drift, two wrong taints, opting out, and leaving", async (t) => {
  await using bed = await openTaintBed();
  const { controlPlane } = bed;
  // Runs before there are taints, with none of our tolerations.
  const before = await controlPlane.createNamespace("before", { unseen: "yes" });
  await createDeployment(controlPlane, before, { name: "old", replicas: 16, images: [IMAGE] });
  await waitForPods(controlPlane, before, { count: 16, until: isScheduled });
  await startTainting(bed, {
    spec: { namespaceSelector: { matchExpressions: [{ key: "unseen", operator: "DoesNotExist" }] } },
  });
  await t.step("every node has its taint, every running pod the toleration of its node", async () => {
    assert.deepEqual(await taintsByNode(controlPlane), RIGHT);
    const tolerated = await toleratedByPod(controlPlane, before);
    for (const { name, nodeName } of await listPods(controlPlane, before)) {
      assert.equal(tolerated[name], nodeName.replace(/-\d$/, ""), name);
    }
  });
  await t.step("pods that are placed tolerate what was decided, in the patch of their affinity", () => placedPods(bed));
  await t.step("pods that are left alone, or that the webhook never saw, find a node", () => otherPods(bed));
  await t.step("a node that is added is tainted", async () => {
    await controlPlane.addNodes([{
      name: "amd64-3",
      arch: "amd64",
      taints: [{ key: "dedicated", value: "x", effect: "PreferNoSchedule" }],
    }]);
    await waitForTaints(controlPlane, { "amd64-3": "amd64:NoSchedule" });
    assert.equal((await taintsByNode(controlPlane, "dedicated"))["amd64-3"], "x:PreferNoSchedule");
  });
  await t.step("wrong values, wrong effects and two wrong taints are repaired; foreign taints stay", async () => {
    const foreign = { key: "dedicated", value: "gpu", effect: "NoSchedule" };
    const own = (value: string, effect = "NoSchedule"): unknown => ({ key: "supported-arch", value, effect });
    const drifts: Readonly<Record<string, readonly unknown[]>> = {
      "amd64-1": [foreign, own("s390x")],
      "arm64-1": [own("arm64", "PreferNoSchedule"), foreign],
      "s390x-1": [own("amd64"), foreign, own("ppc64le", "NoExecute")],
      "ppc64le-1": [foreign],
    };
    for (const [name, taints] of Object.entries(drifts)) {
      await controlPlane.patch(`/api/v1/nodes/${name}`, { spec: { taints } });
    }
    await waitForTaints(controlPlane, RIGHT);
    const kept = await taintsByNode(controlPlane, "dedicated");
    for (const name of Object.keys(drifts)) assert.equal(kept[name], "gpu:NoSchedule", name);
  });
  await t.step("the archaware controller's clean mode is undone: pods are made again, taints come back", async () => {
    const pods = `/api/v1/namespaces/${before}/pods`;
    expectStatus("delete every pod", await controlPlane.request("DELETE", pods, { gracePeriodSeconds: 0 }), [200]);
    const foreign = { key: "dedicated", value: "gpu", effect: "NoSchedule" };
    for (const { name } of SHARED_NODES) {
      await controlPlane.patch(`/api/v1/nodes/${name}`, { spec: { taints: [foreign] } });
    }
    await waitForTaints(controlPlane, RIGHT);
    for (const { name } of SHARED_NODES) {
      const path = "/spec/taints/0";
      const removal = [{ op: "test", path, value: foreign }, { op: "remove", path }];
      await controlPlane.patch(`/api/v1/nodes/${name}`, removal);
    }
    await waitForPods(controlPlane, before, { count: 16, until: isScheduled });
    const tolerated = await toleratedByPod(controlPlane, before);
    for (const { name, nodeName } of await listPods(controlPlane, before)) {
      assert.ok(tolerated[name]?.split(",").includes(nodeName.replace(/-\d$/, "")), name);
    }
  });
  await t.step("a label opts a node out", async () => {
    await controlPlane.patch("/api/v1/nodes/amd64-3", { metadata: { labels: { "archway.dev/arch-taint": "off" } } });
    await waitForTaints(controlPlane, { "amd64-3": "" });
  });
  await t.step("a pod that may not be changed finds no node: no further node is tainted until it does", () => {
    return pausedByPolicy(bed);
  });
  await t.step("no request for nodes lacked a right, and all that wrote were patches", async () => {
    const requests = (await archwayRequests(controlPlane)).filter(({ resource }) => resource === "nodes");
    assert.deepEqual(requests.filter(({ status }) => status === 403), []);
    const verbs = new Set(requests.map(({ verb }) => verb));
    assert.deepEqual([...verbs].filter((verb) => !["get", "list", "watch"].includes(verb)), ["patch"]);
  });
  await t.step("when the config is deleted the taints come off", async () => {
    await controlPlane.delete(CONFIG);
    await waitForTaints(controlPlane, NONE);
  });
});

async function placedPods(bed: WalkBed): Promise<void> {
  const { controlPlane } = bed;
  const namespace = await controlPlane.createNamespace("placed");
  const both = await bed.push("demo/both", index("amd64", "arm64"));
  const amd = await bed.push("demo/amd", index("amd64"));
  const arm = await bed.push("demo/arm", index("arm64"));
  const wide = await bed.push("demo/wide", index("amd64", "arm64", "s390x"));
  await createPods(controlPlane, namespace, {
    pods: [
      { name: "arm", images: [arm] },
      { name: "three", images: [wide, both, amd] },
      { name: "four", images: [wide, both, wide], initImages: [arm] },
      { name: "none", images: [both, amd, arm] },
    ],
  });
  await waitForPods(controlPlane, namespace, {
    count: 4,
    until: ({ name, nodeName }) => name === "none" || nodeName !== "",
  });
  assert.deepEqual(await toleratedByPod(controlPlane, namespace), {
    arm: "arm64",
    three: "amd64",
    four: "arm64",
    none: "",
  });
  const pods = await listPods(controlPlane, namespace);
  const where = pods.map(({ name, nodeName }) => `${name} ${nodeName.replace(/-\d$/, "")}`);
  assert.deepEqual(where, ["arm arm64", "four arm64", "none ", "three amd64"]);
  const patches = (await archwayRequests(controlPlane)).filter(({ resource, verb, name, status }) =>
    resource === "pods" && verb === "patch" && status === 200 && ["arm", "three", "four"].includes(name)
  );
  assert.ok(patches.length <= 3, `one write a pod: ${JSON.stringify(patches)}`);
}

async function otherPods({ controlPlane }: WalkBed): Promise<void> {
  const unseen = await controlPlane.createNamespace("unseen", { unseen: "yes" });
  for (const namespace of ["kube-system", unseen]) {
    await createPods(controlPlane, namespace, { pods: [{ name: "left-alone", images: [IMAGE] }] });
    await waitForPods(controlPlane, namespace, { count: 1, until: isScheduled });
    assert.deepEqual(await toleratedByPod(controlPlane, namespace), { "left-alone": ALL });
  }
  const namespace = await controlPlane.createNamespace("daemons");
  const spec = { tolerations: [{ key: "supported-arch", operator: "Exists" }] };
  const daemons = workload("DaemonSet", "agent", { spec });
  await controlPlane.create(`/apis/apps/v1/namespaces/${namespace}/daemonsets`, daemons);
  await waitForPods(controlPlane, namespace, { count: SHARED_NODES.length, until: isScheduled });
}

async function pausedByPolicy({ controlPlane }: WalkBed): Promise<void> {
  const namespace = await controlPlane.createNamespace("refused", { unseen: "yes" });
  const lift = await refuseUpdates(controlPlane, namespace);
  const spec = { nodeSelector: { "kubernetes.io/arch": "s390x" } };
  await createPods(controlPlane, namespace, { pods: [{ name: "frozen", images: [IMAGE], labels: FROZEN, spec }] });
  await waitForPhase(controlPlane, "False Paused");
  await controlPlane.addNodes(["amd64-4", "amd64-5"].map((name) => ({ name, arch: "amd64" })));
  // The nodes are seen and counted, and left as they are; one that an administrator taints by hand counts, and stays so.
  await waitForPhase(controlPlane, "False Paused: Paused at 8 of 10 nodes");
  const byHand = [{ key: "supported-arch", value: "amd64", effect: "NoSchedule" }];
  await controlPlane.patch("/api/v1/nodes/amd64-5", { spec: { taints: byHand } });
  await waitForPhase(controlPlane, "False Paused: Paused at 9 of 10 nodes");
  assert.equal((await taintsByNode(controlPlane))["amd64-4"], "");
  const requests = await archwayRequests(controlPlane);
  assert.deepEqual(requests.filter(({ name }) => ["amd64-4", "amd64-5"].includes(name)), []);
  await lift();
  await waitForPods(controlPlane, namespace, { count: 1, until: isScheduled });
  await waitForTaints(controlPlane, { "amd64-4": "amd64:NoSchedule" });
  await waitForPhase(controlPlane, "True Done");
}

Deno.test("taints: with tolerate, placed pods find the nodes that a cloud taints, and no node gets a taint", async () => {
  await using bed = await openWorkingBed({ replica: { args: ["--arch-taints=tolerate"] } });
  const { controlPlane } = bed;
  const taints = [{ key: "kubernetes.io/arch", value: "arm64", effect: "NoSchedule" }];
  await controlPlane.addNodes([{ name: "cloud-1", arch: "arm64", labels: { cloud: "yes" }, taints }]);
  const namespace = await controlPlane.createNamespace("cloud");
  const images = [await bed.push("demo/cloud", index("amd64", "arm64"))];
  const spec = { nodeSelector: { cloud: "yes" } };
  await createPods(controlPlane, namespace, { pods: [{ name: "placed", images, spec }] });
  await waitForPods(controlPlane, namespace, { count: 1, until: isScheduled });
  assert.deepEqual(await taintsByNode(controlPlane), { ...NONE, "cloud-1": "" });
});

Deno.test("taints: without a leader a replica lifts them and reports it; they come back in phases", async () => {
  await using bed = await openTaintBed();
  const { controlPlane } = bed;
  await startTainting(bed, { args: [settingsFlag(controlPlane.directory, { taintsFailOpenAfter: "5s" })] });
  const role = "/apis/rbac.authorization.k8s.io/v1/namespaces/archway-system/roles/archway-election";
  // The Lease can be read and not be acquired: no replica leads.
  const restore = await change(
    controlPlane,
    role,
    (rules) => rules.map((rule) => ({ ...Object(rule), verbs: ["get"] })),
  );
  await waitForTaints(controlPlane, NONE, 120_000);
  await waitForPhase(controlPlane, "False FailedOpen");
  const nodeWrites = (await archwayRequests(controlPlane)).filter(({ resource, verb }) =>
    resource === "nodes" && verb === "patch"
  );
  assert.equal(nodeWrites.length, 2 * SHARED_NODES.length, "one write a node to taint it, one to lift it");
  await waitUntil("the event", async () => {
    const body = await controlPlane.get("/api/v1/namespaces/default/events");
    return JSON.stringify(read(body, "items")).includes("ArchTaintsFailedOpen");
  });
  await restore();
  await waitForTaints(controlPlane, RIGHT, 120_000);
  await waitForPhase(controlPlane, "True Done");
});

Deno.test(`taints: a full cluster of ${PODS} pods is taken over and none is made pending; clean takes the taints off and deletes nothing`, async (t) => {
  await using bed = await openTaintBed();
  const { controlPlane } = bed;
  const namespace = await controlPlane.createNamespace("full");
  for (let set = 0; set < 10; set++) {
    await createDeployment(controlPlane, namespace, { name: `set-${set}`, replicas: PODS / 10, images: [IMAGE] });
  }
  await waitForPods(controlPlane, namespace, {
    count: PODS,
    until: ({ phase }) => phase === "Running",
    deadlineMs: 240_000,
    intervalMs: 1_000,
  });
  await t.step("plan names every pod that would be shut out, and changes nothing", async () => {
    const { code, stdout } = await runTaints(controlPlane, "plan", "-o", "json");
    assert.equal(code, 0, "pods get their toleration first");
    const plan = JSON.parse(stdout);
    assert.equal(plan.pods.filter(({ pod }: { pod: string }) => pod.startsWith(`${namespace}/`)).length, PODS);
    assert.deepEqual(await taintsByNode(controlPlane), NONE);
  });
  await t.step("bootstrap: 0 pods pending, every pod tolerates before the first node is tainted", async () => {
    const tainting = startTainting(bed, { deadlineMs: 300_000 });
    let isOver = false;
    tainting.finally(() => isOver = true).catch(() => {});
    while (!isOver) {
      const pods = await listPods(controlPlane, namespace);
      assert.deepEqual(pods.filter(({ phase, nodeName }) => nodeName === "" || phase === "Pending"), []);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
    await tainting;
    assert.equal((await listPods(controlPlane, namespace)).length, PODS);
    assert.ok(Object.values(await toleratedByPod(controlPlane, namespace)).every((values) => values !== ""));
    const requests = await archwayRequests(controlPlane);
    const writes = requests.filter(({ verb, status }) => verb === "patch" && status === 200);
    const pods = writes.filter(({ resource, name }) => resource === "pods" && name.startsWith("set-"));
    assert.equal(pods.length, PODS, "one write a pod");
    const nodes = writes.filter(({ resource }) => resource === "nodes");
    assert.equal(nodes.length, SHARED_NODES.length);
    const lastMs = Math.max(...pods.map(({ receivedMs }) => receivedMs));
    assert.ok(
      nodes.every(({ receivedMs }) => receivedMs >= lastMs),
      "no node is tainted before the last pod tolerates",
    );
  });
  await t.step("a second plan has nothing to do", async () => {
    const { code, stdout } = await runTaints(controlPlane, "plan");
    assert.equal(code, 0, stdout);
    assert.match(stdout, /add 0, repair 0, remove 0, keep 8/);
  });
  await t.step("clean", async () => {
    await controlPlane.delete(CONFIG);
    await waitForTaints(controlPlane, NONE);
    await controlPlane.patch("/api/v1/nodes/amd64-1", {
      spec: { taints: [{ key: "supported-arch", value: "amd64", effect: "NoSchedule" }] },
    });
    await waitUntil("the config to go", async () => !await controlPlane.exists(CONFIG));
    const { code, stdout } = await runTaints(controlPlane, "clean");
    assert.equal(code, 0, stdout);
    assert.deepEqual(await taintsByNode(controlPlane), NONE);
    assert.equal((await listPods(controlPlane, namespace)).length, PODS);
  });
});

async function plannedPods(
  cluster: ClusterAccess,
  namespace: string,
): Promise<{ readonly code: number; readonly pods: Readonly<Record<string, string>> }> {
  const { code, stdout } = await runTaints(cluster, "plan", "-o", "json");
  const { pods } = JSON.parse(stdout);
  const own = pods.filter(({ pod }: { pod: string }) => pod.startsWith(`${namespace}/`));
  return {
    code,
    pods: Object.fromEntries(own.map(({ pod, accepts, reason }: { pod: string; accepts: string; reason: string }) => [
      pod.slice(namespace.length + 1),
      `${accepts} ${reason.split(": ").at(-1) ?? ""}`,
    ])),
  };
}

Deno.test("taints: plan reports which pods refuse their toleration; apply by hand tolerates what runs and taints, without any Archway", async () => {
  await using bed = await openTaintBed();
  const { controlPlane } = bed;
  const namespace = await controlPlane.createNamespace("hand");
  await createPods(controlPlane, namespace, {
    pods: [{ name: "runs", images: [IMAGE] }, { name: "frozen", images: [IMAGE], labels: FROZEN }],
  });
  await waitForPods(controlPlane, namespace, { count: 2, until: isScheduled });
  const lift = await refuseUpdates(controlPlane, namespace);
  assert.deepEqual(await plannedPods(controlPlane, namespace), {
    code: 1,
    pods: { runs: "yes ", frozen: "no it stays as it is" },
  });
  assert.deepEqual(await toleratedByPod(controlPlane, namespace), { runs: "", frozen: "" });
  await lift();
  await waitUntil("the policy to let pods be changed", async () => {
    return (await plannedPods(controlPlane, namespace)).code === 0;
  });
  const { code, stdout, stderr } = await runTaints(controlPlane, "apply", "-o", "json");
  assert.equal(code, 0, stdout + stderr);
  assert.deepEqual(await taintsByNode(controlPlane), RIGHT);
  assert.notEqual((await toleratedByPod(controlPlane, namespace))["runs"], "");
});
