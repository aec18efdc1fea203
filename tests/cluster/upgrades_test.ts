// Upgrades on a real API server, with operators that write status as those of OpenShift do.
import assert from "node:assert/strict";
import { read } from "./support/cluster_access.ts";
import { imageOf, TO } from "./support/openshift_world.ts";
import { openUpgradeBed, type UpgradeBed } from "./support/upgrade_bed.ts";

/** Types of the conditions of the newest entry, in the order in which the steps began; all must be complete. */
function stepsOf(plan: unknown): readonly string[] {
  const conditions = read(plan, "status", "history", 0, "conditions");
  const list: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  for (const condition of list) assert.equal(read(condition, "status"), "True", JSON.stringify(condition));
  return list.map((condition) => String(read(condition, "type"))).toReversed();
}

async function assertNothingLeft(bed: UpgradeBed): Promise<void> {
  assert.deepEqual(await bed.world.machineSets(), ["workers-a"]);
  assert.deepEqual(await bed.world.cordoned(), []);
  assert.deepEqual(bed.outside.silences, []);
}

Deno.test("upgrades: OSD takes its 17 steps to the end, with spare capacity, and leaves nothing behind", async () => {
  await using bed = await openUpgradeBed();
  bed.start();
  await bed.createPlan({ capacityReservation: true });
  const plan = await bed.untilPhase("Upgraded");
  assert.deepEqual(stepsOf(plan), [
    "StartedNotificationSent",
    "IsClusterUpgradable",
    "ClusterHealthyBeforeUpgrade",
    "ExternalDependenciesAvailable",
    "ComputeCapacityReserved",
    "ControlPlaneMaintenanceWindowCreated",
    "UpgradeCommenced",
    "ControlPlaneUpgraded",
    "ControlPlaneMaintenanceWindowRemoved",
    "WorkersMaintenanceWindowCreated",
    "WorkerNodesUpgraded",
    "ComputeCapacityRemoved",
    "WorkersMaintenanceWindowRemoved",
    "ClusterHealthyAfterUpgrade",
    "PostUpgradeTasksCompleted",
    "CompletedNotificationSent",
  ]);
  assert.deepEqual(bed.world.asked, [`${TO}  ${imageOf(TO)}`]);
  await assertNothingLeft(bed);
});
