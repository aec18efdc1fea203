import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectTls } from "node:tls";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { enablePlacement } from "./support/archway.ts";
import { read, stateOf } from "./support/cluster_access.ts";
import { readLease, startPair } from "./support/lease.ts";
import { CONFIG } from "./support/objects.ts";
import { failedWebhookCalls, startPodLoad } from "./support/pod_load.ts";
import { createPods, isReleased, isScheduled, listPods, waitForPods } from "./support/pods.ts";
import { change } from "./support/taken_rights.ts";
import { waitUntil } from "./support/wait.ts";
import { index, openWalkBed, openWorkingBed } from "./support/walk_bed.ts";

const ELECTION = "/apis/rbac.authorization.k8s.io/v1/namespaces/archway-system/roles/archway-election";

/** A client that has begun a request and does not go on: the drain has something to wait for. */
async function dawdle(port: number, caPem: string): Promise<Deno.TlsConn> {
  const connection = await Deno.connectTls({ hostname: "127.0.0.1", port, caCerts: [caPem] });
  const head = "POST /add-pod-scheduling-gate HTTP/1.1\r\nhost: archway\r\ncontent-length: 10\r\n\r\n{";
  await connection.write(new TextEncoder().encode(head));
  return connection;
}

async function presentedName(port: number, ca: string): Promise<string> {
  const socket = connectTls({ host: "127.0.0.1", port, ca });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  try {
    await once(socket, "secureConnect");
    return String(socket.getPeerCertificate().subject.CN);
  } finally {
    socket.destroy();
    await closed;
  }
}

Deno.test("life: SIGTERM turns /readyz to 503, empties the Lease and ends with 0 within 10 s", async () => {
  await using bed = await openWorkingBed();
  const { archway, controlPlane } = bed;
  await waitUntil("the Lease to be held", async () => (await readLease(controlPlane)).holder === "archway");
  using _open = await dawdle(archway.webhookPort, archway.caPem);
  const begin = performance.now();
  const ending = archway.stop();
  const status = await waitUntil("/readyz to answer 503", async () => {
    const response = await fetch(`${archway.adminUrl}/readyz`);
    await response.body?.cancel();
    return response.status !== 200 && response.status;
  }, { intervalMs: 20, deadlineMs: 5_000 });
  assert.equal(status, 503);
  assert.equal(await ending, 0);
  assert.ok(performance.now() - begin < 10_000, "the end took more than 10 s");
  assert.equal((await readLease(controlPlane)).holder, "");
});

Deno.test("life: ten rotations of the certificate files under a load of pods fail no call", async () => {
  await using bed = await openWorkingBed();
  const { archway } = bed;
  const namespace = await bed.controlPlane.createNamespace("rotation");
  const image = await bed.push("demo/app", index("arm64"));
  await createPods(bed.controlPlane, namespace, { pods: [{ name: "probe", images: [image] }] });
  await waitForPods(bed.controlPlane, namespace, { count: 1, until: (pod) => SCHEDULING_GATE in pod.labels });
  const before = await failedWebhookCalls(bed.controlPlane);
  const load = startPodLoad(bed.controlPlane, namespace, { images: [image], everyMs: 30 });
  for (let round = 1; round <= 10; round++) {
    await archway.renewCertificate(`archway ${round}`);
    await waitUntil(
      `certificate ${round} to be in force`,
      async () => await presentedName(archway.webhookPort, archway.caPem) === `archway ${round}`,
    );
  }
  assert.equal(await archway.metric("archway_certificate_reloads_total"), 10);
  const created = load.created();
  await waitUntil("calls after the last rotation", () => load.created() >= created + 20);
  const { failures } = await load.stop();
  assert.deepEqual(failures, []);
  assert.equal(await failedWebhookCalls(bed.controlPlane) - before, 0);
  const pods = await listPods(bed.controlPlane, namespace);
  assert.deepEqual(pods.filter(({ labels }) => !(SCHEDULING_GATE in labels)).map(({ name }) => name), []);
});

Deno.test("life: the log level follows logVerbosity", async () => {
  await using bed = await openWorkingBed();
  const { archway, controlPlane } = bed;
  const hasDebug = async (): Promise<boolean> =>
    (await archway.logs()).some(({ level }) => String(level).toLowerCase() === "debug");
  assert.equal(await hasDebug(), false);
  await controlPlane.patch(CONFIG, { spec: { logVerbosity: "Debug" } });
  const namespace = await controlPlane.createNamespace("verbose");
  await waitUntil("debug lines", async () => {
    const name = `pod-${crypto.randomUUID().slice(0, 8)}`;
    await createPods(controlPlane, namespace, { pods: [{ name, images: [`${bed.proxy.host}/no/image:v1`] }] });
    return await hasDebug();
  }, { intervalMs: 500 });
});

Deno.test("life: without a leader a replica stops gating after 30 s, and gates again when it leads", async () => {
  await using bed = await openWalkBed();
  const { controlPlane } = bed;
  await using pair = await startPair(bed, { enable: () => enablePlacement(controlPlane) });
  const { balancer, first, second } = pair;
  const image = await bed.push("demo/app", index("arm64"));
  const namespace = await controlPlane.createNamespace("silent");
  await waitUntil("the second to gate", async () => await second.metric("archway_gating") === 1);

  // The first hangs, and the second may read the Lease but not take it.
  const readOnly = [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get"] }];
  const restore = await change(controlPlane, ELECTION, () => readOnly);
  first.kill("SIGSTOP");
  balancer.setTargets([second.webhookPort]);
  try {
    const begin = performance.now();
    await waitUntil("the second to stop gating", async () => await second.metric("archway_gating") === 0);
    assert.ok(performance.now() - begin > 15_000, "the second gave up before the leader was silent for long");
    await waitUntil("the log to say so", async () => {
      const line = (await second.logs()).findLast(({ message }) => message === "not gating pods");
      return read(line, "properties", "reason") === "LeaderSilent";
    });
    const gatingCondition = async (): Promise<string> => stateOf(await controlPlane.get(CONFIG), "GatingStopped");
    await waitUntil("the condition", async () => await gatingCondition() === "True LeaderSilent");
    // Calls that the API server keeps open to the hanging replica time out first.
    await waitUntil("a pod that nobody gates", async () => {
      const name = `pod-${crypto.randomUUID().slice(0, 8)}`;
      await createPods(controlPlane, namespace, { pods: [{ name, images: [image] }] });
      const pod = (await listPods(controlPlane, namespace)).find((one) => one.name === name);
      return pod !== undefined && isReleased(pod);
    }, { deadlineMs: 20_000, intervalMs: 500 });

    await restore();
    await waitUntil("the second to lead", async () => await second.metric("archway_leader") === 1);
    await waitUntil("the second to gate again", async () => await second.metric("archway_gating") === 1);
    await waitUntil("the condition to say so", async () => await gatingCondition() === "False Gating");
  } finally {
    first.kill("SIGCONT");
  }
  await createPods(controlPlane, namespace, { pods: [{ name: "after", images: [image] }] });
  const pods = await waitForPods(controlPlane, namespace, { count: 2, until: isScheduled });
  assert.equal(pods.find(({ name }) => name === "after")?.labels[SCHEDULING_GATE], "removed");
});
