// The API server is away for a whole minute while pods wait for their release. The promise counts from when it is back: no pod
// stays gated longer than the maximum gate age, and none runs where its image cannot.
import assert from "node:assert/strict";
import { read } from "../cluster/support/cluster_access.ts";
import { readLease } from "../cluster/support/lease.ts";
import {
  assertPlaced,
  createPods,
  isReleased,
  isScheduled,
  listPodEvents,
  podsOf,
  waitForPods,
} from "../cluster/support/pods.ts";
import { pause, waitUntil } from "../cluster/support/wait.ts";
import { index, openOwnWorkingBed } from "../cluster/support/walk_bed.ts";

const MAX_GATE_AGE_MS = 90_000;
const AWAY_MS = 60_000;

Deno.test("ha: an API server that is away for a minute: gated pods are released in time, and gating stops meanwhile", async () => {
  await using bed = await openOwnWorkingBed({
    spec: { fallbackArchitecture: "amd64" },
    replica: { args: [`--max-gate-age=${MAX_GATE_AGE_MS / 1_000}s`] },
  });
  const { archway, controlPlane, proxy } = bed;
  const [heals, fails] = [await bed.push("heals/app", index("arm64")), await bed.push("fails/app", index("arm64"))];
  proxy.setFaults([{ fault: { kind: "status", status: 503 } }]);
  const namespace = await controlPlane.createNamespace("minute");
  const pods = [...podsOf("heals", [heals], 15), ...podsOf("fails", [fails], 15)];
  await createPods(controlPlane, namespace, { pods });
  await waitForPods(controlPlane, namespace, { count: 30, until: (pod) => !isReleased(pod) });

  await controlPlane.stopApiServer("killed");
  proxy.setFaults([{ fault: { kind: "status", status: 503 }, repository: "fails/" }]);
  await pause(AWAY_MS);
  assert.equal(archway.isAlive(), true);
  assert.equal(await archway.metric("archway_leader"), 0, "nobody leads without renewing the Lease");
  assert.equal(await archway.metric("archway_gating"), 0, "gating has stopped");
  const silent = (await archway.logs()).findLast(({ message }) => message === "not gating pods");
  assert.equal(read(silent, "properties", "reason"), "LeaderSilent");

  await controlPlane.startApiServer();
  const backMs = performance.now();
  const ended = await waitForPods(controlPlane, namespace, { count: 30, until: isScheduled, deadlineMs: 150_000 });
  const seconds = (performance.now() - backMs) / 1_000;
  assert.ok(seconds * 1_000 <= MAX_GATE_AGE_MS, `the last pod was released ${seconds.toFixed(0)} s after the return`);
  await assertPlaced(controlPlane, ended, ({ name }) => [name.startsWith("heals") ? "arm64" : "amd64"]);
  const events = await waitUntil("the warning of a fallback", async () => {
    const found = (await listPodEvents(controlPlane, { namespace, name: "fails-0" })).filter(({ type }) =>
      type === "Warning"
    );
    return found.length > 0 && found;
  });
  assert.ok(events.some(({ message }) => message.includes("fails/app")), JSON.stringify(events));

  await waitUntil("the Lease to be held again", async () => (await readLease(controlPlane)).holder === "archway");
  await waitUntil("gating to go on", async () => await archway.metric("archway_gating") === 1);
});
