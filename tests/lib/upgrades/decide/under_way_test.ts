import assert from "node:assert/strict";
import { withTargetUnderWay } from "../../../../lib/upgrades/decide/reconcile.ts";
import type { ClusterVersion } from "../../../../lib/upgrades/decide/types/cluster.ts";
import type { HistoryEntry } from "../../../../lib/upgrades/decide/types/plan.ts";
import { commencedCluster, IMAGE_TO, makeHistory, makePlan, TO } from "./make_plan.ts";

const NEXT = "4.17.9";
const ASKED = { type: "UpgradeCommenced", status: "True", reason: "", message: "" } as const;
const MOVING = commencedCluster({ desired: { version: TO, image: IMAGE_TO, architecture: "" } });

const ROWS: readonly (readonly [string, Partial<HistoryEntry>, ClusterVersion, string])[] = [
  ["the cluster moves to the one before", {}, MOVING, TO],
  ["the cluster does not move yet", {}, commencedCluster(), NEXT],
  ["the cluster is asked for another since", {}, {
    ...MOVING,
    desiredUpdate: { version: NEXT, image: "", architecture: "" },
  }, NEXT],
  ["the update was not requested for the plan", { conditions: [] }, MOVING, NEXT],
  ["the upgrade before is complete", { phase: "Upgraded" }, MOVING, NEXT],
];

for (const [name, entry, clusterVersion, expected] of ROWS) {
  Deno.test(`a plan that names another version since, ${name}: ${expected} is carried out`, () => {
    const history = [makeHistory({ conditions: [ASKED], ...entry })];
    const plan = makePlan({ desired: { version: NEXT } }, { history });
    assert.equal(withTargetUnderWay(plan, clusterVersion).spec.desired.version, expected);
  });
}

Deno.test("a plan whose target is under way stays as it is", () => {
  const plan = makePlan({}, { history: [makeHistory({ conditions: [ASKED] })] });
  assert.equal(withTargetUnderWay(plan, MOVING), plan);
});
