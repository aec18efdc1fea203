import assert from "node:assert/strict";
import type { ClusterVersion } from "../../../../lib/upgrades/decide/types/cluster.ts";
import type { HistoryEntry, StepCondition, UpgradeStatus } from "../../../../lib/upgrades/decide/types/plan.ts";
import {
  CAPACITY,
  commencedCluster,
  condition,
  CONTROL_PLANE_SILENCE,
  FROM,
  IMAGE_FROM,
  makeCluster,
  makeHistory,
  makePlan,
  makeSilence,
  makeStep,
  migratingCluster,
  NOW_MS,
  type Observations,
  reconcileAbsent,
  reconcileOnce,
  seen,
  type SpecOverrides,
  TO,
  wordsOf,
} from "./make_plan.ts";

const SPEC: SpecOverrides = { desired: { version: FROM, architecture: "Multi", channel: "" }, capacity: CAPACITY };
/** All that a migration can have prepared. */
const PREPARED: Partial<Observations> = {
  silences: seen([makeSilence(CONTROL_PLANE_SILENCE + FROM)]),
  capacityLeft: seen({ kind: "present", message: "to be deleted: workers-a-upgrade" }),
  smoke: seen({ kind: "waiting", sinceMs: NOW_MS, message: "no node yet" }),
};

const ASKED = { version: FROM, image: "", architecture: "Multi" };
const UNSIGNED = [condition("ReleaseAccepted", "False", "not signed")];
/** How far the cluster version operator is, once it was asked. */
const BEGUN: readonly (readonly [string, ClusterVersion])[] = [
  ["is requested", makeCluster({ desiredUpdate: ASKED })],
  ["is refused", makeCluster({ desiredUpdate: ASKED, conditions: UNSIGNED })],
  ["is rolled out", migratingCluster("Partial")],
  ["has its control plane there", migratingCluster("Completed")],
];

function done(type: string): StepCondition {
  return makeStep(type, { reason: `${type} done`, message: `${type} is completed` });
}

const ENTRY: HistoryEntry = makeHistory({
  ...{ version: FROM, architecture: "Multi", profile: "multiarch-migration" },
  baseline: { image: IMAGE_FROM, operatorImages: {}, renderedConfigs: { worker: "rendered-worker-1" } },
  conditions: [
    "UpgradeCommenced",
    "ControlPlaneMaintenanceWindowCreated",
    "ComputeCapacityReserved",
    "BaselineRecorded",
    "StartedNotificationSent",
  ].map(done),
});

const REMOVALS = ["clear ephemeral", "endSilence", "releaseCapacity", "deleteSmokeMachine"];

for (const [state, clusterVersion] of BEGUN) {
  Deno.test(`a migration that ${state} is not taken back when its plan is deleted; what it prepared goes`, () => {
    assert.deepEqual(wordsOf(reconcileAbsent(PREPARED, clusterVersion).effects), REMOVALS);
  });
}

const CHANGES: readonly (readonly [string, SpecOverrides])[] = [
  ["the version with one architecture", { desired: { version: FROM, architecture: "", channel: "" } }],
  ["another version, for later", { desired: { version: TO }, upgradeAt: "2026-03-09T20:00:00Z" }],
  ["the same, suspended", { ...SPEC, suspend: true }],
];

/** Reconciles as often as it may change anything, each from what the one before has written. */
function settle(
  spec: SpecOverrides,
  clusterVersion: ClusterVersion,
): { words: readonly string[]; status: UpgradeStatus } {
  let status: UpgradeStatus = { history: [ENTRY], conditions: [] };
  const words: string[] = [];
  for (let turn = 0; turn < 6; turn++) {
    const options = { plan: makePlan(spec, status), clusterVersion, nowMs: NOW_MS + turn * 60_000 };
    const run = reconcileOnce(options, { observed: turn === 0 ? PREPARED : {} });
    status = run.saved.at(-1) ?? status;
    words.push(...wordsOf(run.effects));
  }
  return { words, status };
}

for (const [state, clusterVersion] of BEGUN) {
  for (const [change, spec] of CHANGES) {
    Deno.test(`a migration that ${state} is not taken back when its plan is changed to ${change}`, () => {
      const { words, status } = settle(spec, clusterVersion);
      assert.equal(words.includes("patchClusterVersion"), false, words.join());
      const migration = status.history.find(({ architecture }) => architecture === "Multi");
      const { phase, conditions } = migration ?? assert.fail("the migration is in no history");
      if (spec.suspend === true) return assert.notEqual(phase, "Failed");
      assert.equal(phase, "Failed");
      assert.match(conditions[0]?.message ?? "", /The plan names another target, 4\.17\.\d, since/);
      assert.ok(words.includes("endSilence") && words.includes("releaseCapacity"), words.join());
    });
  }
}

Deno.test("a plan that is changed from an upgrade to a migration in the middle of it does not take the upgrade back", () => {
  const entry = makeHistory({ conditions: [done("UpgradeCommenced")] });
  const clusterVersion = commencedCluster({ conditions: [condition("Progressing", "True", "Working towards 4.17.2")] });
  const run = reconcileOnce({ plan: makePlan(SPEC, { history: [entry] }), clusterVersion }, { observed: {} });
  assert.equal(wordsOf(run.effects).includes("patchClusterVersion"), false);
});
