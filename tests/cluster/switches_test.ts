import assert from "node:assert/strict";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { enablePlacement } from "./support/archway.ts";
import { type ClusterAccess, expectStatus, read } from "./support/cluster_access.ts";
import {
  createDeployment,
  createPods,
  isReleased,
  isScheduled,
  listPodEvents,
  listPods,
  type PodOutcome,
  renderPod,
  waitForPods,
} from "./support/pods.ts";
import { workload } from "./support/objects.ts";
import { waitUntil } from "./support/wait.ts";
import { sumSamples } from "../support/metric_samples.ts";
import { index, openWalkBed, openWorkingBed, type WalkBed } from "./support/walk_bed.ts";

const COMPONENTS = new URL("../../manifests/components/", import.meta.url).pathname;

function waitForMessages(
  cluster: ClusterAccess,
  { namespace, kind, says }: { readonly namespace: string; readonly kind: string; readonly says: RegExp },
): Promise<readonly string[]> {
  return waitUntil(`an event about a ${kind} that says ${says}`, async () => {
    const messages = (await cluster.list(`/api/v1/namespaces/${namespace}/events`))
      .filter((event) => read(event, "involvedObject", "kind") === kind)
      .map((event) => String(read(event, "message")))
      .filter((message) => says.test(message));
    return messages.length > 0 && messages;
  });
}

function isUntouched({ gates, labels, affinity }: PodOutcome): boolean {
  return gates.length === 0 && affinity === undefined && !(SCHEDULING_GATE in labels);
}

async function patch({ controlPlane }: WalkBed, path: string, body: unknown): Promise<void> {
  const merge = { contentType: "application/strategic-merge-patch+json" };
  expectStatus(`patch ${path}`, await controlPlane.request("PATCH", path, body, merge), [200]);
}

Deno.test("switches: --audit leaves the pod unchanged and reports what would be done, without a config as well", async () => {
  await using bed = await openWalkBed();
  const { controlPlane } = bed;
  await bed.startReplica({ args: ["--audit"] });
  const namespace = await controlPlane.createNamespace("audit");
  await createPods(controlPlane, namespace, {
    pods: [{ name: "audited", images: [await bed.push("demo/audited", index("arm64"))] }],
  });
  const messages = await waitForMessages(controlPlane, { namespace, kind: "Pod", says: /Audit mode/ });
  assert.equal(messages.length, 1);
  assert.match(messages.join(), /would set the supported architectures to \{arm64\}/);
  assert.ok((await listPods(controlPlane, namespace)).every(isUntouched));
});

Deno.test("switches: audit by label, prewarm, live architectures and daemonsets side by side", async (test) => {
  const args = ["--prewarm", "--live-architectures", "--daemonsets=warn"];
  await using bed = await openWalkBed();
  const { controlPlane } = bed;
  for (const component of ["prewarm", "live-architectures", "daemonsets-warn"]) {
    await controlPlane.run(["apply", "-f", `${COMPONENTS}${component}/role.yaml`]);
  }
  const archway = await bed.startReplica({ args });
  await enablePlacement(controlPlane);
  await test.step("the namespace label archway.dev/mode=audit leaves its pods unchanged", async () => {
    const namespace = await controlPlane.createNamespace("labelled", { "archway.dev/mode": "audit" });
    const image = await bed.push("demo/labelled", index("s390x"));
    await waitUntil("the webhook to know the label", async () => {
      const probe = renderPod({ name: "probe", images: [image] });
      const answer = await controlPlane.request("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, probe);
      return !JSON.stringify(answer.body).includes(SCHEDULING_GATE);
    });
    await createPods(controlPlane, namespace, {
      // No node takes it, so that it is still pending when the leader begins to look.
      pods: [{ name: "audited", images: [image], spec: { nodeSelector: { nowhere: "yes" } } }],
    });
    const messages = await waitForMessages(controlPlane, { namespace, kind: "Pod", says: /Audit mode/ });
    assert.equal(messages.length, 1);
    assert.ok((await listPods(controlPlane, namespace)).every(isUntouched));
  });
  await test.step("--prewarm inspects a template before it has pods, and a scale-up gates none", async () => {
    const namespace = await controlPlane.createNamespace("prewarm");
    const image = await bed.push("demo/prewarmed", index("arm64", "s390x"));
    await createDeployment(controlPlane, namespace, { name: "app", replicas: 0, images: [image] });
    // A dry run starts no inspection, so what the webhook has cached is from the template.
    await waitUntil("the image of the template to be known", async () => {
      const probe = renderPod({ name: "probe", images: [image] });
      const answer = await controlPlane.request("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, probe);
      return read(answer.body, "metadata", "labels", SCHEDULING_GATE) === "removed";
    });
    const created = waitForMessages(controlPlane, { namespace, kind: "ReplicaSet", says: /Created pod/ });
    await patch(bed, `/apis/apps/v1/namespaces/${namespace}/deployments/app`, { spec: { replicas: 3 } });
    await created;
    const pods = await waitForPods(controlPlane, namespace, { count: 3, until: isScheduled });
    assert.ok(pods.every(({ requiredArchitectures: [first] }) => first?.join() === "arm64,s390x"));
    const events = await Promise.all(pods.map(({ name }) => listPodEvents(controlPlane, { namespace, name })));
    assert.ok(events.flat().every(({ reason }) => reason !== "ArchAwareSchedGateAdded"));
  });
  await test.step("--live-architectures narrows to what nodes offer, and reports when nothing does", async () => {
    const namespace = await controlPlane.createNamespace("live");
    const images = [
      await bed.push("demo/live", index("arm64", "riscv64")),
      await bed.push("demo/far", index("riscv64")),
    ];
    const pods = images.map((image, number) => ({ name: `pod-${number}`, images: [image] }));
    await createPods(controlPlane, namespace, { pods });
    const ended = await waitForPods(controlPlane, namespace, { count: 2, until: isReleased });
    assert.deepEqual(ended.map(({ requiredArchitectures }) => requiredArchitectures), [[["arm64"]], [["riscv64"]]]);
    await waitForMessages(controlPlane, { namespace, kind: "Pod", says: /No node or pool .* offers \{riscv64\}/ });
  });
  await test.step("--daemonsets=warn puts an event on a DaemonSet and leaves its pods alone", async () => {
    const namespace = await controlPlane.createNamespace("daemons");
    const daemons = await createDaemonSet(bed, namespace);
    const messages = await waitForMessages(controlPlane, { namespace, kind: "DaemonSet", says: /cannot run this/ });
    assert.equal(messages.length, 1);
    assert.match(messages.join(), /Nodes of \{amd64, ppc64le, s390x\}/);
    const pods = await waitForPods(controlPlane, namespace, { count: 8, until: isScheduled });
    assert.ok(pods.every(({ requiredArchitectures }) => requiredArchitectures.flat().length === 0), daemons);
  });
  await test.step("an ephemeral container that cannot run on its node causes an event", async () => {
    const namespace = await controlPlane.createNamespace("ephemeral");
    const pods = [{ name: "target", images: [await bed.push("demo/target", index("arm64"))] }];
    await createPods(controlPlane, namespace, { pods });
    await waitForPods(controlPlane, namespace, { count: 1, until: isScheduled });
    const debug = { name: "debug", image: await bed.push("demo/debug", index("amd64")) };
    await patch(bed, `/api/v1/namespaces/${namespace}/pods/target/ephemeralcontainers`, {
      spec: { ephemeralContainers: [debug] },
    });
    await waitForMessages(controlPlane, { namespace, kind: "Pod", says: /"debug" cannot run on node "arm64-\d"/ });
  });
  await test.step("DV-26 Q-06 an exchanged image that cannot run on its node causes an event, and no other update is called", async () => {
    const namespace = await controlPlane.createNamespace("exchanged");
    const pods = [{ name: "target", images: [await bed.push("demo/before", index("arm64"))] }];
    await createPods(controlPlane, namespace, { pods });
    await waitForPods(controlPlane, namespace, { count: 1, until: isScheduled });
    const path = `/api/v1/namespaces/${namespace}/pods/target`;
    const calls = async (): Promise<number> =>
      sumSamples(await archway.metrics(), { metric: "archway_admissions_total", labels: { outcome: "passed" } });
    const before = await calls();
    for (const label of ["a", "b", "c"]) await patch(bed, path, { metadata: { labels: { label } } });
    assert.equal(await calls(), before);
    const image = await bed.push("demo/after", index("amd64"));
    await patch(bed, path, { spec: { containers: [{ name: "main-0", image }] } });
    await waitForMessages(controlPlane, { namespace, kind: "Pod", says: /Container .* cannot run on node "arm64-\d"/ });
    assert.equal(await calls(), before + 1);
  });
});

async function createDaemonSet(bed: WalkBed, namespace: string): Promise<string> {
  const image = await bed.push(`daemons/${namespace}`, index("arm64"));
  const daemons = workload("DaemonSet", "daemon", { image });
  await bed.controlPlane.create(`/apis/apps/v1/namespaces/${namespace}/daemonsets`, daemons);
  return image;
}

Deno.test("switches: --daemonsets=constrain keeps the pods of a DaemonSet to where its images run", async () => {
  await using bed = await openWorkingBed({ replica: { args: ["--daemonsets=constrain"] } });
  const namespace = await bed.controlPlane.createNamespace("constrain");
  await createDaemonSet(bed, namespace);
  const ofArm = ({ nodeName }: PodOutcome): boolean => nodeName.startsWith("arm64-");
  const pods = await waitUntil("the pods of the arm64 nodes to be bound", async () => {
    const all = await listPods(bed.controlPlane, namespace);
    return all.length === 8 && all.every(isReleased) && all.filter(ofArm).length === 2 && all;
  });
  assert.ok(pods.every((pod) => !isScheduled(pod) || ofArm(pod)));
  assert.ok(pods.every(({ requiredArchitectures }) => requiredArchitectures.flat().includes("arm64")));
});
