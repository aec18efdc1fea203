// What users feel while parts of the cluster go and come back: nothing but a wait. Rolling restarts, an API server and an etcd
// that are away, registries that hang or ask for patience.
import assert from "node:assert/strict";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { enablePlacement } from "./support/archway.ts";
import { createAuthority } from "./support/pki.ts";
import { failedWebhookCalls, startPodLoad } from "./support/pod_load.ts";
import {
  createPods,
  isReleased,
  isScheduled,
  listNodeArchitectures,
  type PodOutcome,
  type PodSpec,
  waitForPods,
} from "./support/pods.ts";
import { findFreePort } from "./support/ports.ts";
import { startTcpBalancer } from "./support/tcp_balancer.ts";
import { pause, waitUntil } from "./support/wait.ts";
import { index, openWalkBed, openWorkingBed, type WalkBed } from "./support/walk_bed.ts";

async function assertOnArm(bed: WalkBed, pods: readonly PodOutcome[]): Promise<void> {
  const architectures = await listNodeArchitectures(bed.controlPlane);
  const wrong = pods.filter(({ nodeName }) => architectures.get(nodeName) !== "arm64");
  assert.deepEqual(wrong.map(({ name, nodeName }) => `${name} on ${nodeName}`), []);
}

function podsOf(images: readonly string[], count: number): readonly PodSpec[] {
  return Array.from({ length: count }, (_, number) => ({
    name: `pod-${number}`,
    images: [images[number % images.length] ?? ""],
  }));
}

Deno.test("availability: a rolling restart of two replicas under load fails, forgets and misplaces no pod", async () => {
  await using bed = await openWalkBed();
  const { controlPlane } = bed;
  await using balancer = startTcpBalancer(findFreePort());
  const authority = await createAuthority("archway test replicas");
  const front = { webhookUrl: `https://127.0.0.1:${balancer.port}`, authority };
  const first = await bed.startReplica({ name: "first", front });
  balancer.setTargets([first.webhookPort]);
  await enablePlacement(controlPlane);
  const second = await bed.startReplica({ name: "second", front });
  balancer.setTargets([first.webhookPort, second.webhookPort]);
  const images = await Promise.all([1, 2, 3, 4].map((number) => bed.push(`demo/app-${number}`, index("arm64"))));
  const namespace = await controlPlane.createNamespace("rolling");
  await waitUntil(
    "both to gate",
    async () => await first.metric("archway_gating") === 1 && await second.metric("archway_gating") === 1,
  );
  const before = await failedWebhookCalls(controlPlane);
  const load = startPodLoad(controlPlane, namespace, { images });
  for (const replica of [first, second]) {
    const created = load.created();
    await waitUntil("some load before the restart", () => load.created() >= created + 20);
    assert.equal(await replica.stop(), 0);
    await replica.restart();
  }
  const { created, failures } = await load.stop();
  assert.deepEqual(failures, []);
  const pods = await waitForPods(controlPlane, namespace, {
    count: created,
    until: (pod) => isReleased(pod) && isScheduled(pod),
  });
  assert.deepEqual(pods.filter(({ labels }) => !(SCHEDULING_GATE in labels)).map(({ name }) => name), []);
  assert.equal(await failedWebhookCalls(controlPlane) - before, 0);
  await assertOnArm(bed, pods);
});

Deno.test("availability: pods that are gated while the API server is away for 20 s, and etcd restarts, are placed", async () => {
  // Held for longer than a slow machine needs to bring its API server back: giving up is another test's business.
  await using bed = await openWorkingBed({ replica: { args: ["--max-gate-age=180s"] } });
  const { archway, controlPlane, proxy } = bed;
  const image = await bed.push("demo/app", index("arm64"));
  proxy.setFaults([{ fault: { kind: "status", status: 503 } }]);
  const away = await controlPlane.createNamespace("away");
  await createPods(controlPlane, away, { pods: podsOf([image], 30) });
  await waitForPods(controlPlane, away, { count: 30, until: (pod) => !isReleased(pod) });
  await controlPlane.stopApiServer("killed");
  proxy.setFaults([]);
  await pause(20_000);
  assert.equal(archway.isAlive(), true);
  await controlPlane.startApiServer();
  const placed = await waitForPods(controlPlane, away, { count: 30, until: isScheduled, deadlineMs: 120_000 });
  await assertOnArm(bed, placed);

  // Gating begins again with the Lease; then etcd goes while pods are gated.
  const later = await bed.push("demo/later", index("arm64"));
  await waitUntil("gating to go on", async () => await archway.metric("archway_gating") === 1, { deadlineMs: 120_000 });
  proxy.setFaults([{ fault: { kind: "status", status: 503 } }]);
  const namespace = await controlPlane.createNamespace("etcd");
  await createPods(controlPlane, namespace, { pods: podsOf([later], 30) });
  await waitForPods(controlPlane, namespace, { count: 30, until: (pod) => !isReleased(pod) });
  await controlPlane.restartEtcd("killed");
  proxy.setFaults([]);
  const pods = await waitForPods(controlPlane, namespace, { count: 30, until: isScheduled, deadlineMs: 120_000 });
  await assertOnArm(bed, pods);
});

Deno.test("B8 availability: a registry that hangs for 15 s delays pods by at most 10 s more and misplaces none", async () => {
  await using bed = await openWorkingBed({ spec: { fallbackArchitecture: "amd64" } });
  const { controlPlane, proxy } = bed;
  const images = await Promise.all(Array.from({ length: 10 }, (_, n) => bed.push(`demo/app-${n}`, index("arm64"))));
  proxy.setFaults([{ fault: { kind: "blackHole" } }]);
  const namespace = await controlPlane.createNamespace("hole");
  await createPods(controlPlane, namespace, { pods: podsOf(images, 50) });
  await pause(15_000);
  proxy.setFaults([]);
  const begin = performance.now();
  const pods = await waitForPods(controlPlane, namespace, { count: 50, until: isScheduled, deadlineMs: 40_000 });
  const seconds = (performance.now() - begin) / 1_000;
  await assertOnArm(bed, pods);
  assert.ok(seconds <= 10, `placed ${seconds.toFixed(1)} s after the registry answered again`);
});

Deno.test("B8 availability: 30 % of 429 over 50 images cost at most 1.6 requests an image", async () => {
  await using bed = await openWorkingBed({ spec: { fallbackArchitecture: "amd64" } });
  const { controlPlane, proxy } = bed;
  const images = await Promise.all(Array.from({ length: 50 }, (_, n) => bed.push(`busy/app-${n}`, index("arm64"))));
  proxy.reset();
  proxy.setFaults([{ fault: { kind: "status", status: 429, retryAfterSeconds: 1 }, fraction: 0.3 }]);
  const namespace = await controlPlane.createNamespace("busy");
  await createPods(controlPlane, namespace, { pods: podsOf(images, 100) });
  const pods = await waitForPods(controlPlane, namespace, { count: 100, until: isScheduled, deadlineMs: 90_000 });
  await assertOnArm(bed, pods);
  const counts = proxy.counts();
  const requests = Object.values(counts).reduce((sum, count) => sum + count, 0);
  assert.ok(requests > 50, "the registry never asked for patience");
  assert.ok(requests <= 80, `${requests} requests for 50 images: ${JSON.stringify(counts)}`);
});
