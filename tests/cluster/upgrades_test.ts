// Upgrades on a real API server, with operators that write status as those of OpenShift do.
import assert from "node:assert/strict";
import { isTrue, listAt, read } from "./support/cluster_access.ts";
import { FROM, imageOf } from "./support/simulated_openshift.ts";
import { ARO_STEPS, openUpgradeBed, type UpgradeBed } from "./support/upgrade_bed.ts";

/** Types of the conditions of the newest entry, in the order in which the steps began; all must be complete. */
function stepsOf(plan: unknown): readonly string[] {
  const list = listAt(plan, "status", "history", 0, "conditions");
  for (const condition of list) assert.equal(read(condition, "status"), "True", JSON.stringify(condition));
  return list.map((condition) => String(read(condition, "type"))).toReversed();
}

async function assertNothingLeft(bed: UpgradeBed): Promise<void> {
  assert.deepEqual(await bed.openshift.machineSets(), ["workers-a"]);
  assert.deepEqual(await bed.openshift.cordoned(), []);
  assert.deepEqual(bed.outside.silences, []);
}

Deno.test("upgrades: ARO takes its 14 steps, waits for every pool and leaves a paused one", async () => {
  await using bed = await openUpgradeBed({ pools: { master: 1, infra: 1, worker: 1, frozen: 1 }, paused: ["frozen"] });
  bed.start();
  await bed.createPlan({ type: "ARO" });
  assert.deepEqual(stepsOf(await bed.untilPhase("Upgraded")), ARO_STEPS);
  const pools = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools";
  const renderedOf = async (pool: string): Promise<unknown> =>
    read(await bed.controlPlane.get(`${pools}/${pool}`), "status", "configuration", "name");
  assert.deepEqual(await Promise.all(["infra", "worker", "frozen"].map(renderedOf)), [
    "rendered-infra-4205000000000000",
    "rendered-worker-4205000000000000",
    "rendered-frozen-1",
  ]);
  await assertNothingLeft(bed);
});

Deno.test("upgrades: a migration to many architectures at the same version ends when everything has moved", async () => {
  await using bed = await openUpgradeBed();
  bed.start();
  const desired = { version: FROM, architecture: "Multi" };
  await bed.createPlan({ desired, smoke: { machineSetTemplate: "workers-a" } });
  const plan = await bed.untilPhase("Upgraded");
  const steps = stepsOf(plan);
  assert.deepEqual([steps.at(0), steps.at(-1)], ["StartedNotificationSent", "CompletedNotificationSent"]);
  assert.deepEqual(bed.openshift.asked, [`${FROM} Multi ${imageOf(FROM, "aa")}`]);
  assert.ok(isTrue(plan, "MultiArchCapable"), JSON.stringify(read(plan, "status", "conditions")));
  await assertNothingLeft(bed);
});
