import assert from "node:assert/strict";
import { renderTime } from "../../../../lib/vocabulary/time.ts";
import { progressOf, stepStateOf } from "../../../../lib/upgrades/decide/progress.ts";
import { UPGRADERS } from "../../../../lib/upgrades/decide/steps/upgraders.ts";
import { CAPACITY, makeHistory, makePlan, makeSpec, NOW_MS } from "./make_plan.ts";

Deno.test("progressOf() has no steps before the upgrade has an entry", () => {
  const { phase, steps, version } = progressOf(makePlan());
  assert.deepEqual([phase, steps, version], ["New", [], "4.17.2"]);
});

Deno.test("progressOf() lists the steps of the upgrader in their order, with what the waiting one waits for", () => {
  const step = { reason: "r", startTime: renderTime(NOW_MS), completeTime: undefined };
  const conditions = [
    { ...step, type: "IsClusterUpgradable", status: "False", message: "the cluster says no" },
    { ...step, type: "StartedNotificationSent", status: "True", message: "done", completeTime: renderTime(NOW_MS + 1) },
    { ...step, type: "ComputeCapacityReserved", status: "True", message: "done", completeTime: renderTime(NOW_MS + 1) },
  ] as const;
  const history = [makeHistory({ phase: "Upgrading", conditions, startTime: renderTime(NOW_MS) })];
  const { steps } = progressOf(makePlan({ type: "OSD" }, { history }));
  assert.deepEqual(steps.map(({ id }) => id), [...new Set(UPGRADERS.OSD.steps.map(({ id }) => id))]);
  const states = new Map(steps.map(({ id, state, message }) => [id, `${state} ${message}`.trim()]));
  assert.equal(states.get("StartedNotificationSent"), "done");
  assert.equal(states.get("IsClusterUpgradable"), "waiting the cluster says no");
  assert.equal(states.get("CompletedNotificationSent"), "open");
  assert.equal(states.get("ComputeCapacityReserved"), "skipped");
});

Deno.test("stepStateOf() reports what a step waits for without its name, and skipped steps from those that were done", () => {
  const type = "WorkerNodesUpgraded";
  const waiting = { type, status: "False", message: `${type} still in progress: 2 nodes are left` } as const;
  assert.deepEqual(stepStateOf(waiting, makeSpec()), { state: "waiting", message: "2 nodes are left" });
  const proven = { type: "SecondaryArchitectureProven", status: "True", message: "is completed" } as const;
  assert.deepEqual(stepStateOf(proven, makeSpec()), { state: "skipped", message: "" });
  const smoke = { machineSetTemplate: "arm", timeoutMinutes: 15 };
  assert.deepEqual(stepStateOf(proven, makeSpec({ smoke })), { state: "done", message: "" });
  const reserved = { ...proven, type: "ComputeCapacityReserved" };
  assert.equal(stepStateOf(reserved, makeSpec()).state, "skipped");
  assert.equal(stepStateOf(reserved, makeSpec({ capacity: CAPACITY })).state, "done");
});
