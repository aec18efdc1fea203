import assert from "node:assert/strict";
import { openUpgrades } from "../../../controllers/upgrades/controller.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { parseUpgradeStatus } from "../../../lib/upgrades/decide/types/plan.ts";
import { rawNode } from "../../lib/upgrades/decide/make.ts";
import { noAnswer } from "../../support/until.ts";
import { whileRunning } from "../make.ts";
import { NAMESPACE, openUpgradeScene, type UpgradeScene } from "./make.ts";

/** A plan whose time has not come; nothing outside is asked about it. */
function openPending(
  more: Partial<UpgradeScene["deps"]> = {},
): { readonly scene: UpgradeScene; readonly controller: ReturnType<typeof openUpgrades> } {
  const scene = openUpgradeScene({
    spec: { upgradeAt: "2126-01-01T00:00:00Z", drain: { mode: "Delete" } },
    status: { history: [{ version: "4.20.5", phase: "Pending" }] },
  });
  const refuse = (): never => assert.fail("nothing outside is asked");
  const outside = { readers: refuse, createSilence: refuse, endSilence: refuse, notify: refuse };
  return { scene, controller: openUpgrades({ ...scene.deps, outside, ...more }) };
}

Deno.test("what was written is seen at once, so that metrics follow it, and not the next reconcile", async () => {
  const { scene, controller } = openPending();
  let reads = 0;
  // The plan can be read once.
  scene.fault = ({ verb, plural, signal }) => {
    if (verb !== "get" || plural !== "upgradeconfigs" || reads++ === 0) return;
    return noAnswer(signal);
  };
  await whileRunning(scene, controller, async () => {
    await scene.clock.advance(1_000);
    const { status } = controller.seen()?.known ?? assert.fail("nothing was read");
    const stored = scene.cluster.find("upgradeconfigs", `${NAMESPACE}/managed-upgrade-config`);
    assert.deepEqual(status, parseUpgradeStatus(stored?.["status"]));
    assert.ok(status.conditions.some(({ type }) => type === "Valid"));
  });
});

Deno.test("M-302 no node is looked at while the plan is not being carried out", async () => {
  const values: string[] = [];
  const refuse = (): never => assert.fail("no gauge was set that would be cleared");
  const { scene, controller } = openPending({
    gauges: {
      clear: refuse,
      clearGroup: refuse,
      set: (metric, _labels, value) => void values.push(`${metric}=${value}`),
    },
  });
  const looks: string[] = [];
  scene.fault = ({ verb, plural }) => {
    if (plural === "nodes" || plural === "pods") looks.push(`${verb} ${plural}`);
  };
  scene.cluster.put(Resource.nodes, rawNode("n1", { cordonedMinutes: 200, state: "Working" }));
  await whileRunning(scene, controller, async () => {
    await scene.clock.advance(1_000);
    const [entry] = controller.seen()?.known?.status.history ?? [];
    assert.equal(entry?.phase, "Pending");
  });
  assert.deepEqual([...new Set(values)], ["upgradeoperator_upgradeconfig_validation_failed=0"]);
  assert.deepEqual(looks, []);
});
