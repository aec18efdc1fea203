import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { listAt, read } from "./support/cluster_access.ts";
import { imageOf } from "./support/simulated_openshift.ts";
import { openOutageBed, type OutageBed, type OutageServer } from "./support/outage_bed.ts";
import type { StepOutages } from "./support/step_outages.ts";
import { OSD_STEPS } from "./support/upgrade_bed.ts";

const ignore = lacks("alertmanager") || lacks("prometheus");

/** What needs the server: all of it meets the outage. */
const NEEDED: readonly (readonly [OutageServer, string, readonly string[]])[] = [
  ["Prometheus", "N-017 Prometheus", ["ClusterHealthyBeforeUpgrade", "ClusterHealthyAfterUpgrade", "Upgraded"]],
  ["Alertmanager", "Alertmanager", [
    "ControlPlaneMaintenanceWindowCreated",
    "ControlPlaneMaintenanceWindowRemoved",
    "WorkersMaintenanceWindowCreated",
    "WorkerNodesUpgraded",
    "WorkersMaintenanceWindowRemoved",
  ]],
  ["cluster manager", "the cluster manager", [
    "Pending",
    "StartedNotificationSent",
    "UpgradeCommenced",
    "ControlPlaneUpgraded",
    "WorkerNodesUpgraded",
    "CompletedNotificationSent",
  ]],
];

const NOTIFICATIONS = ["Completed", "ControlPlaneFinished", "ControlPlaneStarted", "Started", "WorkerPlaneFinished"];

/** Every effect of an upgrade is there once, and nothing temporary is left. */
async function assertDoneOnce({ upgrade, manager, silences }: OutageBed, version: string): Promise<void> {
  const { openshift, controlPlane } = upgrade;
  const plan = await upgrade.readPlan();
  assert.deepEqual(openshift.asked.filter((one) => one.startsWith(`${version} `)), [`${version}  ${imageOf(version)}`]);
  assert.deepEqual(await openshift.machineSets(), ["workers-a"]);
  assert.deepEqual(await openshift.cordoned(), []);
  const listed = (await silences()).filter(({ comment }) => comment.includes(version));
  assert.deepEqual(listed.filter(({ state }) => state !== "expired"), []);
  const comments = listed.map(({ comment }) => comment).toSorted();
  assert.deepEqual(comments, [...new Set(comments)], "each silence was made once");
  assert.equal(comments.filter((comment) => comment.includes("control plane")).length, 1);
  assert.ok(comments.some((comment) => comment.endsWith("remaining 2 nodes")), comments.join("; "));
  const events = (await controlPlane.list("/api/v1/namespaces/openshift-managed-upgrade-operator/events"))
    .filter((event) => read(event, "involvedObject", "uid") === read(plan, "metadata", "uid"));
  assert.deepEqual(events.map((event) => read(event, "reason")).toSorted(), NOTIFICATIONS);
  assert.deepEqual([...new Set(events.map((event) => read(event, "count")))], [1]);
  const logged = manager.logs.filter(({ description }) => String(description).includes(version));
  assert.deepEqual(logged.map(({ summary }) => summary), [
    "Control plane upgrade started",
    "Control plane upgrade completed",
    "Worker nodes upgrade completed",
  ]);
  assert.equal(manager.policies[0]?.state.value, "completed");
  assertHistory(plan, version);
}

function assertHistory(plan: unknown, version: string): void {
  const history: unknown = read(plan, "status", "history");
  assert.equal(Array.isArray(history) ? history.length : 0, 1);
  const entry = read(history, 0);
  assert.deepEqual([read(entry, "version"), read(entry, "phase")], [version, "Upgraded"]);
  const all = listAt(entry, "conditions");
  assert.deepEqual(all.map((one) => read(one, "type")).toReversed(), OSD_STEPS);
  assert.deepEqual([...new Set(all.map((one) => read(one, "status")))], ["True"]);
  const states = listAt(entry, "notifications").map((one) => String(read(one, "state")));
  assert.deepEqual(states, [...new Set(states)]);
}

Deno.test({ name: "upgrades: servers that go away at the beginning of every step", ignore }, async (t) => {
  await using bed = await openOutageBed();
  let patch = 5;
  const upgrade = async (server: OutageServer): Promise<StepOutages> => {
    const version = `4.20.${patch++}`;
    const outages = await bed.upgradeWithout(server, version);
    await assertDoneOnce(bed, version);
    return outages;
  };
  for (const [server, name, needed] of NEEDED) {
    await t.step(
      `${name}: each step that needs it waits for it, and nothing is done twice or left over`,
      async () => {
        const changes = (): number => bed.manager.seen.filter((line) => line.startsWith("PATCH ")).length;
        const before = changes();
        const outages = await upgrade(server);
        // Steps before the request are decided anew in every look, so that others may meet it as well.
        const met = needed.filter((step) => outages.refusedAt.includes(step));
        assert.deepEqual(met, needed, outages.refusedAt.join());
        assert.equal(changes() - before, 2, "the policy has started and completed");
      },
    );
  }
  await t.step(
    "the API server: each look goes on where the last one was, and nothing is done twice or left over",
    async () => {
      const outages = await upgrade("API server");
      assert.ok(outages.outages() >= 10, `${outages.outages()} outages`);
      assert.ok(outages.refusedAt.length >= 8, outages.refusedAt.join());
    },
  );
});
