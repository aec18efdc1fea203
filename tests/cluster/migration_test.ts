// A cluster on which the Multiarch Tuning Operator ran until now: its objects and its gated pods are there, its processes are
// gone. Archway starts and takes everything over without a pod lost.
import assert from "node:assert/strict";
import { Finalizer, SCHEDULING_GATE, WebhookName } from "../../lib/names.ts";
import { type ClusterAccess, isTrue, read } from "./support/cluster_access.ts";
import {
  createPods,
  isReleased,
  isScheduled,
  listNodeArchitectures,
  type PodOutcome,
  type PodSpec,
  waitForPods,
} from "./support/pods.ts";
import { claimAvailable, REFERENCE_NAMESPACE, renderOperand, renderReferenceWebhook } from "./support/reference.ts";
import { waitUntil } from "./support/wait.ts";
import { index, openWalkBed } from "./support/walk_bed.ts";

const GROUP = "/apis/multiarch.openshift.io/v1beta1";
const WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
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
  const config = await cluster.create(`${GROUP}/clusterpodplacementconfigs`, {
    apiVersion: "multiarch.openshift.io/v1beta1",
    kind: "ClusterPodPlacementConfig",
    metadata: { name: "cluster", finalizers: [Finalizer.podPlacement, Finalizer.noPodPlacementConfig] },
    spec: { fallbackArchitecture: "s390x", namespaceSelector: { matchLabels: { migrated: "yes" } } },
  });
  await claimAvailable(cluster);
  await cluster.create(`${GROUP}/namespaces/${namespace}/podplacementconfigs`, {
    apiVersion: "multiarch.openshift.io/v1beta1",
    kind: "PodPlacementConfig",
    metadata: { name: "local" },
    spec: {
      priority: 10,
      plugins: { nodeAffinityScoring: { enabled: true, platforms: [{ architecture: "arm64", weight: 50 }] } },
    },
  });
  await cluster.create("/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: REFERENCE_NAMESPACE },
  });
  await cluster.create(DEPLOYMENTS, renderOperand());
  const uid = String(read(config, "metadata", "uid"));
  await cluster.create(WEBHOOKS, renderReferenceWebhook(uid, { matchLabels: { migrated: "yes" } }));
  return uid;
}

function find(pods: readonly PodOutcome[], name: string): PodOutcome {
  return pods.find((pod) => pod.name === name) ?? assert.fail(`no pod ${name}`);
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
  for (const wait of waits) {
    await controlPlane.run([...wait, "--timeout=60s"]);
  }
  const ended = await waitForPods(controlPlane, namespace, {
    count: pods.length,
    until: (pod) => isReleased(pod) && (pod.name === "foreign" || isScheduled(pod)),
    deadlineMs: 90_000,
  });
  const architectures = await listNodeArchitectures(controlPlane);
  const placed = (name: string): string | undefined => architectures.get(find(ended, name).nodeName);
  for (const name of ["waiting", "failing-1", "failing-4", "unlabelled"]) assert.equal(placed(name), "arm64", name);
  assert.equal(placed("hopeless"), "s390x");
  assert.equal(placed("ignorable"), "amd64");
  assert.deepEqual(find(ended, "foreign").gates, ["example.com/quota"]);
  assert.deepEqual(find(ended, "foreign").requiredArchitectures, [["arm64"]]);

  await assertTakenOver(controlPlane, { uid, webhookUrl: archway.webhookUrl });
  await createPods(controlPlane, namespace, { pods: [{ name: "new", images: [edge] }] });
  const all = await waitForPods(controlPlane, namespace, {
    count: pods.length + 1,
    until: (pod) => pod.name !== "new" || isScheduled(pod),
  });
  assert.equal(find(all, "new").labels[SCHEDULING_GATE], "removed");
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
    const body = await cluster.get(`${WEBHOOKS}/${WebhookName.configuration}`);
    const url = String(read(body, "webhooks", "0", "clientConfig", "url"));
    return url.startsWith(`${webhookUrl}/`) && url.endsWith("/add-pod-scheduling-gate") && body;
  });
  const names = [read(webhook, "webhooks")].flat().map((each) => read(each, "name"));
  assert.deepEqual(names, [WebhookName.webhook, WebhookName.lateImages]);
  assert.equal(read(webhook, "webhooks", "0", "clientConfig", "service"), undefined);
  const body = await cluster.get(`${GROUP}/clusterpodplacementconfigs/cluster`);
  assert.equal(read(body, "metadata", "uid"), uid);
  const finalizers = read(body, "metadata", "finalizers");
  assert.deepEqual(
    Array.isArray(finalizers) ? finalizers.toSorted() : finalizers,
    [Finalizer.noPodPlacementConfig, Finalizer.podPlacement],
  );
  await waitUntil("the finalizer of the former operand to go", async () => {
    const operand = await cluster.request("GET", `${DEPLOYMENTS}/pod-placement-controller`);
    return operand.status === 200 && read(operand.body, "metadata", "finalizers") === undefined;
  });
  await waitUntil("the config to be available", async () => {
    const now = await cluster.request("GET", `${GROUP}/clusterpodplacementconfigs/cluster`);
    return isTrue(now.body, "Available");
  });
}
