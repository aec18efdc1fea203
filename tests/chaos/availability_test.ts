// What users feel while parts of the cluster go and come back: nothing but a wait. Rolling restarts, registries that hang or ask
// for patience; an API server or an etcd that is away is a row of the table of faults.
import assert from "node:assert/strict";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { enablePlacement } from "../cluster/support/archway.ts";
import { createAuthority } from "../cluster/support/pki.ts";
import { failedWebhookCalls, startPodLoad } from "../cluster/support/pod_load.ts";
import { assertPlaced, createPods, isReleased, isScheduled, podsOf, waitForPods } from "../cluster/support/pods.ts";
import { TcpBalancer } from "../cluster/support/tcp_balancer.ts";
import { pause, waitUntil } from "../cluster/support/wait.ts";
import { index, openWalkBed, openWorkingBed } from "../cluster/support/walk_bed.ts";

Deno.test("availability: a rolling restart of two replicas under load fails, loses and misplaces no pod", async () => {
  await using bed = await openWalkBed();
  const { controlPlane } = bed;
  await using balancer = new TcpBalancer();
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
  const passed = pods.filter(({ labels }) => !(SCHEDULING_GATE in labels)).map(({ name }) => name);
  const unanswered = await failedWebhookCalls(controlPlane) - before;
  const why = async (): Promise<string> => {
    const log = await Deno.readTextFile(`${controlPlane.directory}/kube-apiserver.log`);
    return log.split("\n").filter((line) => /failed calling webhook/i.test(line)).join("\n");
  };
  const missed = { passed, unanswered };
  assert.deepEqual(missed, { passed: [], unanswered: 0 }, `${JSON.stringify(missed)}: ${await why()}`);
  await assertPlaced(controlPlane, pods, () => ["arm64"]);
});

Deno.test("availability: a registry that hangs for 15 s delays pods by at most 10 s more and misplaces none", async () => {
  await using bed = await openWorkingBed({ spec: { fallbackArchitecture: "amd64" } });
  const { controlPlane, proxy } = bed;
  const images = await Promise.all(Array.from({ length: 10 }, (_, n) => bed.push(`demo/app-${n}`, index("arm64"))));
  proxy.setFaults([{ fault: { kind: "blackHole" } }]);
  const namespace = await controlPlane.createNamespace("hole");
  await createPods(controlPlane, namespace, { pods: podsOf("pod", images, 50) });
  await pause(15_000);
  proxy.setFaults([]);
  const begin = performance.now();
  const pods = await waitForPods(controlPlane, namespace, { count: 50, until: isScheduled, deadlineMs: 40_000 });
  const seconds = (performance.now() - begin) / 1_000;
  await assertPlaced(controlPlane, pods, () => ["arm64"]);
  assert.ok(seconds <= 10, `placed ${seconds.toFixed(1)} s after the registry answered again`);
});

Deno.test("availability: 30 % of 429 over 50 images cost at most 1.6 requests an image", async () => {
  await using bed = await openWorkingBed({ spec: { fallbackArchitecture: "amd64" } });
  const { controlPlane, proxy } = bed;
  const images = await Promise.all(Array.from({ length: 50 }, (_, n) => bed.push(`busy/app-${n}`, index("arm64"))));
  proxy.reset();
  proxy.setFaults([{ fault: { kind: "status", status: 429, retryAfterSeconds: 1 }, fraction: 0.3 }]);
  const namespace = await controlPlane.createNamespace("busy");
  await createPods(controlPlane, namespace, { pods: podsOf("pod", images, 100) });
  const pods = await waitForPods(controlPlane, namespace, { count: 100, until: isScheduled, deadlineMs: 90_000 });
  await assertPlaced(controlPlane, pods, () => ["arm64"]);
  const counts = proxy.counts();
  const requests = Object.values(counts).reduce((sum, count) => sum + count, 0);
  assert.ok(requests > 50, "the registry never asked for patience");
  assert.ok(requests <= 80, `${requests} requests for 50 images: ${JSON.stringify(counts)}`);
});
