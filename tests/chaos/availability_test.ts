// What users feel while registries hang or ask for patience: nothing but a wait. Replicas that are rolled out are in
// tests/cluster/ha_service_test.ts; an API server or an etcd that is away is a row of the table of faults.
import assert from "node:assert/strict";
import { assertPlaced, createPods, isScheduled, podsOf, waitForPods } from "../cluster/support/pods.ts";
import { pause } from "../cluster/support/wait.ts";
import { index, openWorkingBed } from "../cluster/support/walk_bed.ts";

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
