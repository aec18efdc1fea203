import assert from "node:assert/strict";
import { renderTime } from "../../lib/vocabulary/time.ts";
import { type KubeApi, withCalls } from "../../lib/k8s/api.ts";
import { ApiError } from "../../lib/k8s/api_error.ts";
import { read } from "./support/cluster_access.ts";
import { CLUSTER_VERSION, imageOf, TO } from "./support/simulated_openshift.ts";
import { phaseOf, PLAN } from "./support/upgrade_plane.ts";
import { NOTIFICATIONS } from "../lib/upgrades/decide/make_plan.ts";
import { openUpgradeBed, statesOf, type UpgradeBed } from "./support/upgrade_bed.ts";
import { waitUntil } from "./support/wait.ts";

async function assertDoneOnce({ outside, openshift }: UpgradeBed): Promise<void> {
  assert.deepEqual(openshift.asked, [`${TO}  ${imageOf(TO)}`], "the ClusterVersion was asked once");
  assert.deepEqual(await openshift.machineSets(), ["workers-a"]);
  assert.deepEqual(await openshift.cordoned(), []);
  assert.deepEqual(outside.silences, []);
  assert.deepEqual(statesOf(outside.notified), NOTIFICATIONS, "every notification once");
  const controlPlane = outside.created.filter((comment) => comment.includes("control plane"));
  assert.equal(controlPlane.length, 1, controlPlane.join("; "));
}

/** An API whose owner is killed with its nth write: that one is carried out without an answer; later ones are not. */
function killedAt(nth: number, api: KubeApi, onKilled: () => void): KubeApi {
  let writes = 0;
  const write = async <T>(send: () => Promise<T>): Promise<T> => {
    writes++;
    if (writes > nth) throw new ApiError("Cannot write: killed.", { status: 0 });
    const answer = await send();
    if (writes < nth) return answer;
    onKilled();
    throw new ApiError("Cannot write: killed.", { status: 0 });
  };
  return withCalls(api, {
    create: (...call) => write(() => api.create(...call)),
    replace: (...call) => write(() => api.replace(...call)),
    patch: (...call) => write(() => api.patch(...call)),
    delete: (...call) => write(() => api.delete(...call)),
  });
}

Deno.test("N-015 upgrades: a leader that is killed at every one of its writes is followed by another that goes on", async () => {
  await using bed = await openUpgradeBed();
  await bed.createPlan({ capacityReservation: true });
  let kills = 0;
  const phase = async (): Promise<unknown> => phaseOf(await bed.readPlan());
  for (; await phase() !== "Upgraded"; kills++) {
    assert.ok(kills < 80, `${kills} leaders, and it is still ${await phase()}`);
    const killed = Promise.withResolvers<void>();
    const end = bed.start((api) => killedAt(1, api, killed.resolve));
    let isKilled = false;
    killed.promise.then(() => isKilled = true);
    await waitUntil("the end of this leader", async () => isKilled || await phase() === "Upgraded");
    await end();
  }
  assert.ok(kills >= 8, `${kills} leaders were killed`);
  await assertDoneOnce(bed);
});

async function untilSays(bed: UpgradeBed, words: RegExp): Promise<void> {
  let message: unknown;
  await waitUntil(`the step to say ${words}`, async () => {
    message = read(await bed.readPlan(), "status", "history", 0, "conditions", 0, "message");
    return words.test(String(message));
  }, { says: () => `It says: ${message}; operators: ${bed.openshift.lastFault}` });
}

Deno.test("upgrades: a node that does not come back and one whose update fails are named while the upgrade waits; mended, it goes on, and nothing is done twice", async () => {
  await using bed = await openUpgradeBed();
  const { openshift } = bed;
  openshift.breakNode({ node: "worker-1", kind: "lost", message: "Kubelet stopped posting node status." });
  bed.start();
  await bed.createPlan({ capacityReservation: true });
  await untilSays(bed, /^WorkerNodesUpgraded .*2 nodes are left; node worker-1 is not Ready \(Kubelet stopped posting/);
  assert.deepEqual(await openshift.cordoned(), ["worker-1"], "by the machine config operator");
  openshift.breakNode({ node: "worker-2", kind: "degraded", message: 'Node worker-2 is reporting: "no space left"' });
  const second = /1 nodes are left; MachineConfigPool worker is degraded \(Node worker-2 is reporting: "no space/;
  await untilSays(bed, second);
  assert.equal(phaseOf(await bed.readPlan()), "Upgrading");
  const sets = await openshift.machineSets();
  assert.ok(sets.includes("workers-a-upgrade"), "the spare capacity stays while nodes are missing");
  openshift.breakNode(undefined);
  await bed.untilPhase("Upgraded");
  await assertDoneOnce(bed);
});

Deno.test("N-018 upgrades: a plan whose time has passed by a jump of the clock fails without touching the ClusterVersion", async () => {
  await using bed = await openUpgradeBed();
  const upgradeAt = renderTime(Date.now() + 3 * 60 * 60_000);
  bed.start();
  await bed.createPlan({ upgradeAt });
  await bed.untilPhase("Pending");
  bed.clock.shift(6 * 60 * 60_000);
  await bed.controlPlane.request("PATCH", PLAN, { spec: { PDBForceDrainTimeout: 31 } });
  await bed.untilPhase("Failed");
  assert.deepEqual(bed.openshift.asked, []);
  assert.equal(read(await bed.controlPlane.get(CLUSTER_VERSION), "spec", "desiredUpdate"), undefined);
});

Deno.test("N-016 upgrades: a status that another writes at the same time is decided about anew", async () => {
  await using bed = await openUpgradeBed();
  bed.start((api) =>
    withCalls(api, {
      patch: async (type, target, options) => {
        if (target.subresource === "status" && conflicts-- > 0) {
          const annotations = { touched: String(conflicts) };
          await bed.controlPlane.request("PATCH", PLAN, { metadata: { annotations } });
        }
        return await api.patch(type, target, options);
      },
    })
  );
  let conflicts = 6;
  await bed.createPlan();
  await bed.untilPhase("Upgraded");
  assert.ok(conflicts <= 0, "every conflict was met");
  await assertDoneOnce(bed);
});
