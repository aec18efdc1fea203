import assert from "node:assert/strict";
import { CONNECTION_LIMITS } from "../../lib/server/connection_table.ts";
import { MAX_BODY_BYTES } from "../../routes/review_body.ts";
import { connectRaw, type RawClient, renderPost } from "../bench/raw_client.ts";
import { createPods, isReleased, listPods, type PodSpec } from "./support/pods.ts";
import { read } from "./support/cluster_access.ts";
import { CONFIG } from "./support/objects.ts";
import { waitUntil } from "./support/wait.ts";
import { readSecretPath } from "./support/webhook_path.ts";
import { index, openWorkingBed } from "./support/walk_bed.ts";

/** Large enough to count against the webhook's limit of bytes. */
const PADDING = { padding: "p".repeat(100 * 1024) };
/** These pods never run: a sweep looks at what is pending. */
const NOWHERE = { nodeSelector: { "example.com/no-such-node": "yes" } };

/** The sweep counts no pod of the first half minute after the config: its webhook may not have been registered yet. */
const REGISTRATION_MS = 30_000;

Deno.test("overload: refused pods pass ungated, and the next sweep reports exactly those", async () => {
  await using bed = await openWorkingBed();
  const { archway, controlPlane } = bed;
  const image = await bed.push("demo/overload", index("arm64"));
  const namespace = await controlPlane.createNamespace("overload");
  const podsOf = (annotations: Readonly<Record<string, string>>, ...names: readonly string[]): readonly PodSpec[] =>
    names.map((name) => ({ name, images: [image], annotations, spec: NOWHERE }));
  await waitUntil("the config to be old enough for the sweep", async () => {
    const body = await controlPlane.get(CONFIG);
    return Date.now() > Date.parse(String(read(body, "metadata", "creationTimestamp"))) + REGISTRATION_MS + 1_000;
  });
  {
    using stack = new DisposableStack();
    // Large bodies that keep arriving, as slowly as they may, take the whole limit. They come by the secret path.
    const path = await readSecretPath(controlPlane);
    const connect = async (): Promise<RawClient> => stack.use(await connectRaw(archway.webhookPort, archway.caPem));
    const slow: RawClient[] = [];
    for (let left = CONNECTION_LIMITS.maxArrivingBytes; left > 0; left -= MAX_BODY_BYTES) {
      const client = await connect();
      await client.write(renderPost(path, "x".repeat(Math.min(left, MAX_BODY_BYTES))).subarray(0, 1_000));
      slow.push(client);
    }
    const trickle = setInterval(() => slow.forEach((client) => void client.write(new Uint8Array([0x78]))), 200);
    stack.defer(() => clearInterval(trickle));
    await waitUntil("the limit to be reached", async () => {
      const probe = await connect();
      await probe.write(renderPost(path, PADDING.padding));
      return (await probe.read()).status === 503;
    });
    const before = await archway.metric("archway_admissions_total", { outcome: "shed" });
    await createPods(controlPlane, namespace, { pods: podsOf(PADDING, "refused-1", "refused-2", "refused-3") });
    await createPods(controlPlane, namespace, { pods: podsOf({}, "small") });
    assert.equal(await archway.metric("archway_admissions_total", { outcome: "shed" }), before + 3);
  }
  const pods = await listPods(controlPlane, namespace);
  const unmarked = pods.filter(({ labels }) => Object.keys(labels).length === 0).map(({ name }) => name);
  assert.deepEqual(unmarked, ["refused-1", "refused-2", "refused-3"]);
  assert.ok(pods.filter(({ name }) => name !== "small").every(isReleased));
  // A sweep comes with the start of a leader.
  await archway.stop();
  await archway.restart();
  await waitUntil("the sweep's count", async () => await archway.metric("archway_unadmitted_pods") === 3);
  const lines = (await archway.logs()).filter(({ message }) => message === "pods admitted without the webhook");
  assert.equal(lines.length, 1);
  const after = await listPods(controlPlane, namespace);
  assert.deepEqual(after.filter(({ labels }) => Object.keys(labels).length === 0).map(({ name }) => name), unmarked);
});
