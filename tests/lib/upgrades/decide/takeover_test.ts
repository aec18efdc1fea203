import assert from "node:assert/strict";
import { parseUpgradeConfig, renderStatus, type UpgradeConfig } from "../../../../lib/upgrades/decide/types/plan.ts";
import { COMMENCE } from "../../../../lib/upgrades/decide/steps/control_plane.ts";
import { UPGRADERS } from "../../../../lib/upgrades/decide/steps/upgraders.ts";
import type { ClusterVersion } from "../../../../lib/upgrades/decide/types/cluster.ts";
import {
  commencedCluster,
  CONTROL_PLANE_SILENCE,
  FROM,
  makeSilence,
  type Observations,
  reconcileOnce,
  seen,
  TO,
  upgradedCluster,
  wordsOf,
} from "./make_plan.ts";
import { DONE, originalConditions } from "./original_conditions.ts";

const BEGAN = "2026-03-01T20:00:00Z";
function planOfTheOriginal(): UpgradeConfig {
  return parseUpgradeConfig({
    metadata: { namespace: "n", name: "managed-upgrade-config", uid: "u", resourceVersion: "5", generation: 2 },
    spec: {
      ...{ type: "OSD", upgradeAt: BEGAN, PDBForceDrainTimeout: 60 },
      desired: { version: TO, channel: "stable-4.17" },
    },
    status: {
      history: [{
        ...{ version: TO, precedingVersion: FROM, phase: "Upgrading", startTime: BEGAN },
        conditions: originalConditions(BEGAN),
      }],
    },
  });
}

/** Steps before the update is requested that the Managed Upgrade Operator does not have, the last first. */
function stepsOfOurs(): readonly string[] {
  const { steps } = UPGRADERS.OSD;
  const ids = new Set(steps.slice(0, steps.indexOf(COMMENCE)).map(({ id }) => id));
  return [...ids].filter((id) => !DONE.includes(id)).toReversed();
}

const SILENCES: Partial<Observations> = { silences: seen([makeSilence(CONTROL_PLANE_SILENCE + TO)]) };

function takeOver(clusterVersion: ClusterVersion): ReturnType<typeof reconcileOnce> {
  return reconcileOnce({ plan: planOfTheOriginal(), clusterVersion }, { observed: SILENCES });
}

Deno.test("an upgrade that the Managed Upgrade Operator has begun is waited for, with nothing before it done again", () => {
  const run = takeOver(commencedCluster());
  const words = wordsOf(run.effects).filter((word) => !word.includes("="));
  assert.deepEqual(words, []);
  const [entry] = run.saved.at(-1)?.history ?? [];
  assert.deepEqual([entry?.phase, entry?.precedingVersion], ["Upgrading", FROM]);
  const conditions = entry?.conditions ?? [];
  const theirs = ["ControlPlaneUpgraded", ...DONE];
  assert.deepEqual(conditions.map(({ type }) => type), [...stepsOfOurs(), ...theirs]);
  for (const { startTime } of conditions.slice(-theirs.length)) assert.equal(startTime, BEGAN);
});

Deno.test("its silences are ended by their comments, its end is announced, and its times stay", () => {
  const run = takeOver(upgradedCluster());
  const words = wordsOf(run.effects).filter((word) => /^State|Silence|patch/.test(word));
  assert.equal(words.includes("StateStarted"), false);
  assert.equal(words.includes("patchClusterVersion"), false);
  assert.ok(words.includes("endSilence") && words.includes("StateCompleted"), words.join());
  const status = run.saved.at(-1);
  assert.ok(status !== undefined);
  const [entry] = status.history;
  assert.equal(entry?.phase, "Upgraded");
  const rendered = JSON.stringify(renderStatus(status));
  const kept = entry?.conditions.filter(({ type }) => DONE.includes(type)) ?? [];
  assert.deepEqual(kept.map(({ type, completeTime }) => [type, completeTime]), DONE.map((type) => [type, BEGAN]));
  for (const type of DONE) assert.ok(rendered.includes(`"type":"${type}"`), type);
});
