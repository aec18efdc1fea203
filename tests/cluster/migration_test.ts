// A cluster on which the Multiarch Tuning Operator ran until now: its objects and its gated pods are there, its processes are
// gone. Archway starts and takes everything over without a pod lost.
import assert from "node:assert/strict";
import { Finalizer, SCHEDULING_GATE } from "../../lib/names.ts";
import { type ClusterAccess, isTrue, listAt, read } from "./support/cluster_access.ts";
import { clusterConfig, CONFIG, CONFIGS, GROUP, localConfig, POD_WEBHOOK } from "./support/objects.ts";
import {
  createPods,
  isReleased,
  isScheduled,
  listNodeArchitectures,
  podNamed,
  type PodSpec,
  waitForPods,
} from "./support/pods.ts";
import { claimAvailable, REFERENCE_NAMESPACE, renderOperand, renderReferenceWebhook } from "./support/reference.ts";
import { waitUntil } from "./support/wait.ts";
import { index, openWalkBed } from "./support/walk_bed.ts";

const DEPLOYMENTS = `/apis/apps/v1/namespaces/${REFERENCE_NAMESPACE}/deployments`;
const MIGRATION_ROLE = new URL("../../manifests/components/migration/role.yaml", import.meta.url).pathname;
const PAGE = new URL("../../docs/migration.md", import.meta.url).pathname;
const ERROR = "multiarch.openshift.io/image-inspect-error";
const WAITING = { [SCHEDULING_GATE]: "gated", "multiarch.openshift.io/node-affinity": "not-set" };

function failing(attempts: number): Pick<PodSpec, "labels" | "annotations"> {
  return {
    labels: { ...WAITING, [ERROR]: "", [`${ERROR}-count`]: String(attempts) },
    annotations: { [ERROR]: "registry unreachable" },
  };
}

async function layOutReference(cluster: ClusterAccess, namespace: string): Promise<string> {
  const finalizers = [Finalizer.podPlacement, Finalizer.noPodPlacementConfig];
  const spec = { fallbackArchitecture: "s390x", namespaceSelector: { matchLabels: { migrated: "yes" } } };
  const config = await cluster.create(CONFIGS, clusterConfig(spec, { finalizers }));
  await claimAvailable(cluster);
  const nodeAffinityScoring = { enabled: true, platforms: [{ architecture: "arm64", weight: 50 }] };
  const local = localConfig("local", { priority: 10, plugins: { nodeAffinityScoring } });
  await cluster.create(`${GROUP}/namespaces/${namespace}/podplacementconfigs`, local);
  await cluster.create("/api/v1/namespaces", { metadata: { name: REFERENCE_NAMESPACE } });
  await cluster.create(DEPLOYMENTS, renderOperand());
  const uid = String(read(config, "metadata", "uid"));
  const webhook = renderReferenceWebhook(uid, { matchLabels: { migrated: "yes" } });
  await cluster.create(POD_WEBHOOK.replace(/\/[^/]*$/, ""), webhook);
  return uid;
}

Deno.test("migration: what the MTO leaves is taken over, and each of its gated pods is released and placed", async () => {
  await using bed = await openWalkBed();
  const { controlPlane } = bed;
  const namespace = await controlPlane.createNamespace("migrated", { migrated: "yes" });
  const uid = await layOutReference(controlPlane, namespace);
  const edge = await bed.push("demo/edge", index("arm64"));
  const missing = `${bed.proxy.host}/demo/no-such-image:v1`;
  const ours = [SCHEDULING_GATE];
  const pinned = { nodeSelector: { "kubernetes.io/arch": "amd64" } };
  const pods: readonly PodSpec[] = [
    { name: "waiting", images: [edge], gates: ours, labels: WAITING },
    { name: "failing-1", images: [edge], gates: ours, ...failing(1) },
    { name: "failing-4", images: [edge], gates: ours, ...failing(4) },
    { name: "hopeless", images: [missing], gates: ours, ...failing(4) },
    { name: "ignorable", images: [edge], gates: ours, labels: WAITING, spec: pinned },
    { name: "unlabelled", images: [edge], gates: ours },
    { name: "foreign", images: [edge], gates: ["example.com/quota", ...ours], labels: WAITING },
    { name: "done", images: [edge], labels: { [SCHEDULING_GATE]: "removed" } },
  ];
  await createPods(controlPlane, namespace, { pods });
  await controlPlane.run(["apply", "-f", MIGRATION_ROLE]);
  const waits = await waitsOfPage();
  const tooSoon = await controlPlane.kubectl([...waits[0] ?? [], "--timeout=1s"]);
  assert.notEqual(tooSoon.code, 0, "the MTO's status is taken for Archway's");
  const archway = await bed.startReplica();
  for (const wait of waits) await controlPlane.run([...wait, "--timeout=60s"]);
  const ended = await waitForPods(controlPlane, namespace, {
    count: pods.length,
    until: (pod) => isReleased(pod) && (pod.name === "foreign" || isScheduled(pod)),
    deadlineMs: 90_000,
  });
  const architectures = await listNodeArchitectures(controlPlane);
  const placed = (name: string): string | undefined => architectures.get(podNamed(ended, name).nodeName);
  for (const name of ["waiting", "failing-1", "failing-4", "unlabelled"]) assert.equal(placed(name), "arm64", name);
  assert.equal(placed("hopeless"), "s390x");
  assert.equal(placed("ignorable"), "amd64");
  assert.deepEqual(podNamed(ended, "foreign").gates, ["example.com/quota"]);
  assert.deepEqual(podNamed(ended, "foreign").requiredArchitectures, [["arm64"]]);

  await assertTakenOver(controlPlane, { uid, webhookUrl: archway.webhookUrl });
  await createPods(controlPlane, namespace, { pods: [{ name: "new", images: [edge] }] });
  const all = await waitForPods(controlPlane, namespace, {
    count: pods.length + 1,
    until: (pod) => pod.name !== "new" || isScheduled(pod),
  });
  assert.equal(podNamed(all, "new").labels[SCHEDULING_GATE], "removed");
});

/** The commands of docs/migration.md that wait for a condition, without kubectl and its timeout. */
async function waitsOfPage(): Promise<readonly (readonly string[])[]> {
  const page = await Deno.readTextFile(PAGE);
  const [, step = ""] = /\n3\. Wait until[^]*?```sh\n([^]*?)```/.exec(page) ?? [];
  const waits = step.split("\n").map((line) => line.trim().split(" ").slice(1)).filter(([verb]) => verb === "wait");
  assert.equal(waits.length, 2, step);
  return waits.map((words) => words.filter((word) => !word.startsWith("--timeout")));
}

async function assertTakenOver(
  cluster: ClusterAccess,
  { uid, webhookUrl }: { readonly uid: string; readonly webhookUrl: string },
): Promise<void> {
  const webhook = await waitUntil("the webhook to lead to Archway", async () => {
    const body = await cluster.get(POD_WEBHOOK);
    const url = String(read(body, "webhooks", "0", "clientConfig", "url"));
    return url.startsWith(`${webhookUrl}/`) && url.endsWith("/add-pod-scheduling-gate") && body;
  });
  const names = listAt(webhook, "webhooks").map((each) => read(each, "name"));
  assert.deepEqual(
    names,
    ["scheduling-gate", "late-images"].map((name) => `pod-placement-${name}.multiarch.openshift.io`),
  );
  assert.equal(read(webhook, "webhooks", "0", "clientConfig", "service"), undefined);
  const body = await cluster.get(CONFIG);
  assert.equal(read(body, "metadata", "uid"), uid);
  const finalizers = listAt(body, "metadata", "finalizers").toSorted();
  assert.deepEqual(finalizers, [Finalizer.noPodPlacementConfig, Finalizer.podPlacement]);
  await waitUntil("the finalizer of the former operand to go", async () => {
    const operand = await cluster.request("GET", `${DEPLOYMENTS}/pod-placement-controller`);
    return operand.status === 200 && read(operand.body, "metadata", "finalizers") === undefined;
  });
  await waitUntil("the config to be available", async () => isTrue(await cluster.get(CONFIG), "Available"));
}
