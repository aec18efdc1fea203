import assert from "node:assert/strict";
import { drive } from "../../../controllers/upgrades/drive.ts";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { OsImages } from "../../../lib/upgrades/cluster/os_images.ts";
import { readInput } from "../../../lib/upgrades/cluster/plan_input.ts";
import type { HistoryEntry, StepCondition, UpgradeStatus } from "../../../lib/upgrades/decide/types/plan.ts";
import type { Reconcile } from "../../../lib/upgrades/decide/types/steps.ts";
import { makeHistory, makeStep } from "../../lib/upgrades/decide/make_plan.ts";
import type { MemoryCall } from "../../support/memory_kube_api.ts";
import { NAMESPACE, NOTHING_BESIDE, openUpgradeScene } from "./make.ts";
import { assertDoneOnce, entryOf, lookOnce, openPlay, phaseOf, settle } from "./play.ts";

Deno.test("N-015 upgrades: the API server goes away at every request of a look; the next look goes on, and nothing is done twice", async () => {
  const bed = openPlay();
  const done: MemoryCall[] = [];
  const note = (call: MemoryCall): void => void done.push(call);
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
  assert.equal(bed.outside.created.filter((comment) => comment.includes("control plane")).length, 1);
  assertDoneOnce({ ...bed, calls: done });
});

function* saving(statuses: readonly UpgradeStatus[]): Reconcile {
  for (const status of statuses) yield { kind: "save", status };
  return { kind: "finished" };
}

function statusOf(phase: HistoryEntry["phase"], step: Partial<StepCondition>): UpgradeStatus {
  const conditions = [makeStep("WorkerNodesUpgraded", { status: "False", ...step })];
  return { history: [makeHistory({ phase, conditions })], conditions: [] };
}

Deno.test("drive() records an event for each phase and step, Warnings for failures, and none for each node that is waited for", async () => {
  const { deps, events, clock } = openUpgradeScene();
  const [nowMs, { signal }] = [clock.nowMs(), new AbortController()];
  const { known: plan, facts } = await readInput({ readApi: deps.readApi, namespace: NAMESPACE }, { nowMs, signal });
  const statuses = [
    statusOf("Upgrading", { message: "WorkerNodesUpgraded still in progress: 3 nodes are left" }),
    statusOf("Upgrading", { message: "WorkerNodesUpgraded still in progress: 2 nodes are left" }),
    statusOf("Upgrading", { message: "the pools cannot be read" }),
    statusOf("Failed", { message: "the pools cannot be read" }),
    statusOf("Failed", { status: "True" }),
  ];
  const options = { ...NOTHING_BESIDE, plan, facts, osImages: new OsImages(deps.api), nowMs, signal };
  await drive(saving(statuses), deps, options);
  assert.deepEqual(events.map(({ type, reason }) => `${type} ${reason}`), [
    "Normal UpgradeUpgrading",
    "Normal WorkerNodesUpgraded",
    "Warning WorkerNodesUpgraded",
    "Warning UpgradeFailed",
    "Normal WorkerNodesUpgraded",
  ]);
});
