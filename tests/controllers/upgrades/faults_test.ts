import assert from "node:assert/strict";
import { ApiError } from "../../../lib/k8s/errors.ts";
import { textAt } from "../../../lib/json.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import type { MemoryCall } from "../../support/memory_kube_api.ts";
import { pool } from "./make.ts";
import {
  cloneOf,
  completeVersion,
  entryOf,
  lookOnce,
  NOTIFICATIONS,
  openPlay,
  phaseOf,
  planOf,
  type Play,
  settle,
  statesOf,
  writesOf,
} from "./play.ts";

const MINUTE_MS = 60_000;

/** Looks until it is over; after each look what `between` does. */
async function lookUntil(isOver: () => boolean, bed: Play, between = settle): Promise<void> {
  for (let looks = 0; !isOver(); looks++) {
    assert.ok(looks < 60, `${looks} looks, and it is still ${JSON.stringify(entryOf(bed))}`);
    await lookOnce(bed, bed);
    if (!isOver()) between(bed);
  }
}

async function playUntil(bed: Play, phase: string): Promise<void> {
  await lookUntil(() => phaseOf(bed) === phase, bed);
}

async function playUntilAsked(bed: Play): Promise<void> {
  const asked = (): unknown => Object(bed.cluster.find("clusterversions", "version")?.["spec"]).desiredUpdate;
  await lookUntil(() => asked() !== undefined, bed);
}

Deno.test("N-015 upgrades: the API server goes away at every request of a look; the next look goes on, and nothing is done twice", async () => {
  const bed = openPlay();
  const done: string[] = [];
  const note = ({ verb, plural }: MemoryCall): void => void done.push(`${verb} ${plural}`);
  bed.fault = note;
  let cut = 0;
  for (let looks = 0; phaseOf(bed) !== "Upgraded"; looks++) {
    assert.ok(looks < 60, JSON.stringify(entryOf(bed)));
    for (let allowed = 0, isCut = true; isCut; allowed++) {
      let calls = 0;
      isCut = false;
      bed.fault = (call) => {
        if (calls++ < allowed) return note(call);
        isCut = true;
        throw new ApiError("Cannot reach the API server: no answer.", { status: 0 });
      };
      await lookOnce(bed, bed).catch(() => {});
      bed.fault = note;
      if (isCut) cut++;
    }
    settle(bed);
  }
  assert.ok(cut > 20, `${cut} looks were cut off`);
  assert.deepEqual(bed.outside.silences, []);
  assert.equal(bed.outside.created.filter((comment) => comment.includes("control plane")).length, 1);
  assert.deepEqual(statesOf(bed.outside.notified), NOTIFICATIONS);
  const writes = ["patch clusterversions", "create machinesets", "delete machinesets"];
  assert.deepEqual(writes.map((write) => done.filter((one) => one === write).length), [1, 1, 1]);
  assert.equal(cloneOf(bed), undefined);
});

/** Another asks the ClusterVersion for a version. */
function askFor(scene: Play, version: string): void {
  const clusterVersion = scene.cluster.find("clusterversions", "version");
  scene.cluster.put(Resource.clusterVersions, {
    ...clusterVersion,
    metadata: { name: "version" },
    // The server in memory replaces members as a whole: the channel is not what is changed.
    spec: { channel: "stable-4.20", clusterID: "c", desiredUpdate: { version } },
  });
}

Deno.test("upgrades: a ClusterVersion that another leads elsewhere is left alone; the plan never counts as done, and nothing stays", async () => {
  const bed = openPlay();
  await playUntilAsked(bed);
  askFor(bed, "4.20.9");
  completeVersion(bed.cluster, "4.20.9");
  await playUntil(bed, "Failed");
  assert.match(JSON.stringify(entryOf(bed)), /the ClusterVersion is asked for 4\.20\.9 since/);
  assert.doesNotMatch(JSON.stringify(entryOf(bed)), /did not begin/);
  assert.equal(writesOf(bed, "patch", "clusterversions"), 1);
  assert.deepEqual(bed.outside.silences, []);
  assert.equal(cloneOf(bed), undefined);
});

Deno.test("upgrades: a plan that names another version while the cluster moves to the first: that is finished, then the new one is carried out", async () => {
  const bed = openPlay();
  const { cluster } = bed;
  await playUntilAsked(bed);
  assert.ok(cloneOf(bed) !== undefined);
  const plan = planOf(bed);
  assert.ok(plan !== undefined);
  const spec = { ...Object(plan["spec"]), capacityReservation: false, desired: { version: "4.20.6" } };
  cluster.put(Resource.upgradeConfigs, { ...plan, metadata: { ...plan.metadata, generation: 2 }, spec });
  settle(bed);
  const clusterVersion = cluster.find("clusterversions", "version");
  const status = { ...Object(clusterVersion?.["status"]), availableUpdates: [{ version: "4.20.6", image: "c" }] };
  cluster.put(Resource.clusterVersions, { ...clusterVersion, metadata: { name: "version" }, status });
  const isNew = (): boolean => textAt(entryOf(bed), "version") === "4.20.6";
  await lookUntil(() => isNew() && phaseOf(bed) === "Upgrading", bed, () => {
    const isLeft = cluster.find("machines", "openshift-machine-api/m-1") !== undefined;
    const hasClone = cloneOf(bed) !== undefined;
    if (isLeft && !hasClone) cluster.drop(Resource.machines, "openshift-machine-api/m-1");
  });
  completeVersion(cluster, "4.20.6");
  await lookUntil(() => phaseOf(bed) === "Upgraded", bed, () => {});
  const history: unknown = Object(planOf(bed)?.["status"]).history;
  const entries = Array.isArray(history) ? history : [];
  assert.deepEqual(entries.map((entry) => [textAt(entry, "version"), textAt(entry, "phase")]), [
    ["4.20.6", "Upgraded"],
    ["4.20.5", "Upgraded"],
  ]);
  assert.equal(cloneOf(bed), undefined);
  assert.deepEqual(bed.outside.silences, []);
});

Deno.test("upgrades: a node that does not come back holds the end up, and alerts once its silence has run out; mended, it is waited for no more", async () => {
  const bed = openPlay();
  bed.cluster.put(Resource.machineConfigPools, pool("worker", { machines: 3, updated: 1 }));
  const timeout = (): number | undefined => bed.gauges.get('upgradeoperator_worker_timeout{"version":"4.20.5"}');
  const isWaiting = (): boolean =>
    JSON.stringify(entryOf(bed)).includes("WorkerNodesUpgraded still in progress: 2 nodes");
  await lookUntil(isWaiting, bed);
  assert.equal(timeout(), 0);
  assert.equal(bed.outside.silences.length, 1);
  await bed.clock.advance(5 * 60 * MINUTE_MS);
  for (let looks = 0; looks < 3; looks++) await lookOnce(bed, bed);
  assert.deepEqual([phaseOf(bed), timeout()], ["Upgrading", 1]);
  assert.equal(bed.outside.created.filter((comment) => comment.includes("remaining 2 nodes")).length, 1);
  bed.cluster.put(Resource.machineConfigPools, pool("worker"));
  await playUntil(bed, "Upgraded");
  assert.equal(timeout(), 0);
});
