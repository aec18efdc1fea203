import assert from "node:assert/strict";
import { openUpgrades } from "../../../controllers/upgrades/controller.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { parseStatus } from "../../../lib/upgrades/decide/types/plan.ts";
import { silentLogger } from "../../../lib/log.ts";
import { rawNode } from "../../lib/upgrades/decide/make.ts";
import { openScene, whileRunning } from "../make.ts";

const NAMESPACE = "openshift-managed-upgrade-operator";

function plan(phase: string): KubeObject {
  return {
    metadata: { namespace: NAMESPACE, name: "managed-upgrade-config", uid: "u", generation: 1 },
    spec: {
      ...{ desired: { version: "4.17.2", channel: "stable-4.17" }, upgradeAt: "2126-01-01T00:00:00Z" },
      ...{ PDBForceDrainTimeout: 60, type: "OSD", drain: { mode: "Delete" } },
    },
    status: { history: [{ version: "4.17.2", phase }] },
  };
}

const CLUSTER_VERSION: KubeObject = {
  metadata: { name: "version" },
  spec: { channel: "stable-4.17" },
  status: {
    desired: { version: "4.17.1" },
    availableUpdates: [{ version: "4.17.2", image: "i" }],
    history: [{ version: "4.17.1", image: "h", state: "Completed", completionTime: "2026-01-01T00:00:00Z" }],
  },
};

Deno.test("what was written is seen at once, so that metrics follow it, and not the next reconcile", async () => {
  const { cluster, clock, events } = openScene();
  const nothing = (): void => {};
  const refuse = (): never => assert.fail("nothing outside is asked");
  const gauges = { set: nothing, clear: nothing, clearGroup: nothing };
  const outside = { readers: refuse, createSilence: refuse, endSilence: refuse, notify: refuse };
  cluster.put(Resource.upgradeConfigs, plan("Pending"));
  cluster.put(Resource.clusterVersions, CLUSTER_VERSION);
  cluster.put(Resource.configMaps, { metadata: { namespace: NAMESPACE, name: "managed-upgrade-operator-config" } });
  let reads = 0;
  // The plan can be read once.
  const api = cluster.client(({ verb, plural, signal }) => {
    if (verb !== "get" || plural !== "upgradeconfigs" || reads++ === 0) return;
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  const controller = openUpgrades({
    ...{ readApi: api, api, clock, events, log: silentLogger, namespace: NAMESPACE, gauges, outside },
    adviseOnWorkloads: () => Promise.resolve([]),
  });
  await whileRunning({ clock }, controller, async () => {
    await clock.advance(1_000);
    const { status } = controller.seen()?.known ?? assert.fail("nothing was read");
    const stored = cluster.find("upgradeconfigs", `${NAMESPACE}/managed-upgrade-config`);
    assert.deepEqual(status, parseStatus(stored?.["status"]));
    assert.ok(status.conditions.some(({ type }) => type === "Valid"));
  });
});

Deno.test("M-302 no node is looked at while the plan is not being carried out", async () => {
  const { cluster, clock, events } = openScene();
  const calls: string[] = [];
  const api = cluster.client(({ verb, plural }) => void calls.push(`${verb} ${plural}`));
  const refuse = (): never => assert.fail("nothing outside is asked");
  const values: string[] = [];
  const gauges = {
    set: (metric: string, _labels: unknown, value: number) => void values.push(`${metric}=${value}`),
    clear: refuse,
    clearGroup: refuse,
  };
  const outside = { readers: refuse, createSilence: refuse, endSilence: refuse, notify: refuse };
  cluster.put(Resource.upgradeConfigs, plan("Pending"));
  cluster.put(Resource.clusterVersions, CLUSTER_VERSION);
  cluster.put(Resource.configMaps, { metadata: { namespace: NAMESPACE, name: "managed-upgrade-operator-config" } });
  cluster.put(Resource.nodes, rawNode("n1", { cordonedMinutes: 200, state: "Working" }));
  const controller = openUpgrades({
    ...{ readApi: api, api, clock, events, log: silentLogger, namespace: NAMESPACE, gauges, outside },
    adviseOnWorkloads: () => Promise.resolve([]),
  });
  await whileRunning({ clock }, controller, async () => {
    await clock.advance(1_000);
    const [entry] = controller.seen()?.known?.status.history ?? [];
    assert.equal(entry?.phase, "Pending");
  });
  assert.deepEqual([...new Set(values)], ["upgradeoperator_upgradeconfig_validation_failed=0"]);
  assert.deepEqual(calls.filter((call) => / (?:nodes|pods)$/.test(call)), []);
});
