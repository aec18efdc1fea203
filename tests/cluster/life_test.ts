import assert from "node:assert/strict";
import { readLease } from "./support/lease.ts";
import { CONFIG } from "./support/objects.ts";
import { createPods } from "./support/pods.ts";
import { waitUntil } from "./support/wait.ts";
import { openWorkingBed } from "./support/walk_bed.ts";

/** A client that has begun a request and does not go on: the drain has something to wait for. */
async function dawdle(port: number, caPem: string): Promise<Deno.TlsConn> {
  const connection = await Deno.connectTls({ hostname: "127.0.0.1", port, caCerts: [caPem] });
  const head = "POST /add-pod-scheduling-gate HTTP/1.1\r\nhost: archway\r\ncontent-length: 10\r\n\r\n{";
  await connection.write(new TextEncoder().encode(head));
  return connection;
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
