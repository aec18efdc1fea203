import assert from "node:assert/strict";
import { type KubeApi, withCalls } from "../../lib/k8s/api.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { listAt, read } from "./support/cluster_access.ts";
import { CLUSTER_VERSION, FROM, imageOf } from "./support/simulated_openshift.ts";
import { PLAN } from "./support/upgrade_plane.ts";
import { openUpgradeBed, type UpgradeBed } from "./support/upgrade_bed.ts";
import { waitUntil } from "./support/wait.ts";

const MIGRATION = { capacityReservation: true, desired: { version: FROM, architecture: "Multi" } };

function watching(api: KubeApi, onAsked: (spec: unknown) => void): KubeApi {
  return withCalls(api, {
    patch: (type, target, options) => {
      if (type.plural === Resource.clusterVersions.plural) onAsked(read(options.body, "document", "spec"));
      return api.patch(type, target, options);
    },
  });
}

async function clusterVersion({ controlPlane }: UpgradeBed): Promise<unknown> {
  return await controlPlane.get(CLUSTER_VERSION);
}

async function untilNothingIsLeft({ openshift, outside }: UpgradeBed): Promise<void> {
  await waitUntil("temporary workers to be gone", async () => (await openshift.machineSets()).length === 1);
  await waitUntil("silences to be gone", () => outside.silences.length === 0);
  assert.deepEqual(await openshift.machineSets(), ["workers-a"]);
}

function historyOf(plan: unknown): readonly unknown[] {
  return listAt(plan, "status", "history");
}

async function begin(bed: UpgradeBed): Promise<void> {
  bed.openshift.hold();
  await bed.createPlan(MIGRATION);
  await waitUntil("the step after the request", async () => {
    return read(historyOf(await bed.readPlan()), 0, "conditions", 0, "type") === "ControlPlaneUpgraded";
  });
  assert.ok((await bed.openshift.machineSets()).includes("workers-a-upgrade"));
  assert.equal(bed.outside.silences.length, 1);
}

Deno.test("upgrades: a migration is cancelled only before it began, and never taken back", async (t) => {
  await using bed = await openUpgradeBed();
  const { openshift, outside } = bed;
  const written: unknown[] = [];
  bed.start((api) => watching(api, (spec) => written.push(spec)));
  await t.step("deleted before it began: nothing of it is left, and the ClusterVersion was not written", async () => {
    outside.fault = (call) => call === "createSilence" ? "Cannot reach Alertmanager: no answer." : undefined;
    const before = read(await clusterVersion(bed), "metadata", "resourceVersion");
    await bed.createPlan(MIGRATION);
    await waitUntil("the step before the request to fail", async () => {
      return JSON.stringify(await bed.readPlan()).includes("Cannot reach Alertmanager");
    });
    assert.ok((await openshift.machineSets()).includes("workers-a-upgrade"));
    await bed.controlPlane.delete(PLAN);
    await untilNothingIsLeft(bed);
    outside.fault = () => undefined;
    assert.deepEqual([written, openshift.asked], [[], []]);
    assert.equal(read(await clusterVersion(bed), "metadata", "resourceVersion"), before);
  });
  await t.step(
    "changed to one architecture after it began: it has failed, what it prepared goes, and it is still requested",
    async () => {
      await begin(bed);
      const spec = { desired: { version: FROM, architecture: null } };
      await bed.controlPlane.patch(PLAN, { spec });
      await waitUntil("the migration to have failed", async () => {
        const migration = historyOf(await bed.readPlan()).find((entry) => read(entry, "architecture") === "Multi");
        return read(migration, "phase") === "Failed" && JSON.stringify(migration).includes("names another target");
      });
      await untilNothingIsLeft(bed);
      assert.deepEqual(written, [{ desiredUpdate: { version: FROM, architecture: "Multi", image: null } }]);
      assert.equal(read(await clusterVersion(bed), "spec", "desiredUpdate", "architecture"), "Multi");
    },
  );
  await t.step("deleted after it began: the cluster goes on to the other payload, and stays there", async () => {
    await bed.controlPlane.delete(PLAN);
    openshift.letGo();
    await waitUntil("the cluster to have arrived", async () => {
      const state = read(await clusterVersion(bed), "status", "history", 0);
      return read(state, "image") === imageOf(FROM, "aa") && read(state, "state") === "Completed";
    });
    assert.deepEqual(openshift.asked, [`${FROM} Multi ${imageOf(FROM, "aa")}`]);
    assert.equal(written.length, 1, "the ClusterVersion was written once, to request it");
    await untilNothingIsLeft(bed);
  });
});
