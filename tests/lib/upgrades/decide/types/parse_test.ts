import assert from "node:assert/strict";
import { isTrue } from "../../../../../lib/vocabulary/condition.ts";
import { parseClusterOperator, parseClusterVersion } from "../../../../../lib/upgrades/decide/types/cluster.ts";
import { parseUpgradeConfig } from "../../../../../lib/upgrades/decide/types/plan.ts";
import { checkOperators } from "../../../../../lib/upgrades/decide/health/checks.ts";
import { seen, START } from "../make_plan.ts";

const METADATA = { namespace: "n", name: "managed-upgrade-config", uid: "u", resourceVersion: "5", generation: 2 };

Deno.test("parseUpgradeConfig() reads a plan of the Managed Upgrade Operator: what it lacks is off", () => {
  const { spec, ...rest } = parseUpgradeConfig({
    metadata: METADATA,
    spec: {
      ...{ desired: { version: "4.17.2", channel: "stable-4.17" }, upgradeAt: START, PDBForceDrainTimeout: 60 },
      ...{ type: "ARO", capacityReservation: true },
    },
  });
  assert.deepEqual(rest, { ...METADATA, deliveries: [], status: { history: [], conditions: [] } });
  assert.deepEqual(spec, {
    desired: { version: "4.17.2", channel: "stable-4.17", image: "", architecture: "" },
    upgradeAt: START,
    pdbForceDrainTimeoutMinutes: 60,
    type: "ARO",
    capacity: { enabled: true, onTimeout: "Continue" },
    suspend: false,
    drainMode: undefined,
    smoke: undefined,
  });
});

Deno.test("parseUpgradeConfig() reads the fields that are new", () => {
  const { spec } = parseUpgradeConfig({
    metadata: METADATA,
    spec: {
      ...{
        desired: { version: "4.17.2", architecture: "Multi" },
        suspend: true,
        drain: { mode: "Delete" },
        capacityReservation: true,
      },
      capacity: { enabled: false, pools: ["gpu-*"], timeoutMinutes: 5, onTimeout: "Fail" },
      smoke: { machineSetTemplate: "arm" },
    },
  });
  const { desired, suspend, drainMode, type } = spec;
  assert.deepEqual([desired.architecture, suspend, drainMode, type], ["Multi", true, "Delete", "OSD"]);
  assert.deepEqual(spec.capacity, { enabled: false, pools: ["gpu-*"], timeoutMinutes: 5, onTimeout: "Fail" });
  assert.deepEqual(spec.smoke, { machineSetTemplate: "arm", timeoutMinutes: 15 });
});

Deno.test("M-130 parseClusterVersion() reads what is asked for, what is there and what is offered", () => {
  const release = { version: "4.17.1", image: "i1" };
  const cv = parseClusterVersion({
    metadata: { name: "version", resourceVersion: "9" },
    spec: { clusterID: "c", channel: "stable-4.17", desiredUpdate: { version: "4.17.2" } },
    status: {
      desired: { ...release, architecture: "Multi" },
      availableUpdates: [{ version: "4.17.2", image: "i2" }],
      conditionalUpdates: [{ release: { version: "4.17.3", image: "i3" } }],
      history: [{ ...release, state: "Completed", startedTime: START, completionTime: START }, {
        ...release,
        state: "Partial",
        completionTime: null,
      }],
      conditions: [{ type: "Progressing", status: "True", message: "working", lastTransitionTime: START }],
    },
  });
  assert.deepEqual(cv.desiredUpdate, { version: "4.17.2", image: "", architecture: "" });
  assert.deepEqual([cv.resourceVersion, cv.clusterId, cv.channel, cv.upstream], ["9", "c", "stable-4.17", ""]);
  const { desired, availableUpdates: [available], conditionalUpdates: [conditional] } = cv;
  assert.deepEqual([desired.architecture, available?.image, conditional?.version], ["Multi", "i2", "4.17.3"]);
  const history = cv.history.map(({ state, completedMs }) => [state, completedMs]);
  assert.deepEqual(history, [["Completed", Date.parse(START)], ["Partial", undefined]]);
  assert.equal(isTrue(cv.conditions, "Progressing"), true);
  const empty = parseClusterVersion({ metadata: { name: "version" }, status: { availableUpdates: null } });
  assert.deepEqual([empty.desiredUpdate, empty.availableUpdates, empty.desired.version], [undefined, [], ""]);
});

const CONDITIONS: readonly (readonly [string, readonly unknown[], boolean, boolean])[] = [
  [
    "M-136 an operator that is well",
    [{ type: "Available", status: "True" }, { type: "Degraded", status: "False" }],
    false,
    true,
  ],
  ["M-137 an operator that is degraded", [{ type: "Degraded", status: "True" }], true, true],
  ["M-137 an operator that is not available", [{ type: "Available", status: "False" }], false, false],
];

for (const [name, conditions, isDegraded, isAvailable] of CONDITIONS) {
  Deno.test(`${name} is read as that`, () => {
    const versions = [{ name: "operator", version: "4.17.1" }, { name: "operator-image", version: "img" }];
    const etcd = parseClusterOperator({ metadata: { name: "etcd" }, status: { conditions, versions } });
    assert.deepEqual(etcd, { name: "etcd", isDegraded, isAvailable, operatorImage: "img" });
    const health = checkOperators(seen([etcd, { ...etcd, name: "dns" }]));
    const named = "Cluster operators are degraded or not available: etcd, dns.";
    assert.equal(health.kind === "failed" ? health.message : undefined, isDegraded || !isAvailable ? named : undefined);
  });
}
