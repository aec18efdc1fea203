import assert from "node:assert/strict";
import { type RunEnd, runSteps } from "../../../../../lib/upgrades/decide/steps/run.ts";
import { done, fail, wait } from "../../../../../lib/upgrades/decide/steps/results.ts";
import type { Observed } from "../../../../../lib/upgrades/decide/types/observed.ts";
import type { HistoryEntry } from "../../../../../lib/upgrades/decide/types/plan.ts";
import type { Step, StepResult, StepWords } from "../../../../../lib/upgrades/decide/types/steps.ts";
import { renderTime } from "../../../../../lib/vocabulary/time.ts";
import { drive, makeCluster, makeConfig, makeHistory, makePlan, MINUTE, NOW, NOW_MS } from "../make_plan.ts";

function words(id: string): StepWords {
  return { id, stage: "Before", title: id, waitsFor: "", remedy: "" };
}

function step(id: string, result: StepResult, reads: Step["reads"] = () => []): Step {
  return { ...words(id), reads, decide: () => result };
}

function run(
  steps: readonly Step[],
  history: Partial<HistoryEntry> = {},
  nowMs = NOW_MS,
): ReturnType<typeof drive<RunEnd>> {
  const entry = makeHistory(history);
  const status = { history: [entry], conditions: [] };
  const facts = { plan: makePlan({}, status), config: makeConfig(), clusterVersion: makeCluster() };
  return drive(runSteps(steps, { facts, entry, status, nowMs }));
}

function conditionsOf({ end }: { readonly end: RunEnd }): readonly string[] {
  return (end.status.history[0]?.conditions ?? []).map(({ type, status, message }) => `${type} ${status}: ${message}`);
}

Deno.test("M-150 all steps done: the run is complete, each condition True with the time of its end", () => {
  const result = run([step("A", done()), step("B", done())]);
  assert.equal(result.end.kind, "complete");
  assert.deepEqual(conditionsOf(result), ["B True: B is completed", "A True: A is completed"]);
  const times = result.end.status.history[0]?.conditions.map((one) => [one.startTime, one.completeTime]);
  assert.deepEqual(times, [[NOW, NOW], [NOW, NOW]]);
});

Deno.test("M-151 the second step waits: the first is True, the second False, the third absent", () => {
  const result = run([step("A", done()), step("B", wait("nodes")), step("C", done())]);
  assert.equal(result.end.kind, "finished");
  assert.deepEqual(conditionsOf(result), ["B False: B still in progress: nodes", "A True: A is completed"]);
});

Deno.test("M-152 the second step fails: the run fails with its words, which its condition carries", () => {
  const result = run([step("A", done()), step("B", fail("no way")), step("C", done())]);
  assert.equal(result.end.kind === "failed" ? result.end.message : "", "no way");
  assert.deepEqual(conditionsOf(result)[0], "B False: no way");
});

Deno.test("a step keeps the time of its end while it waits again, and loses it when it fails", () => {
  const first = run([step("A", done())]).end.status.history[0];
  const later = NOW_MS + MINUTE;
  const again = run([step("A", done())], first, later).end.status.history[0]?.conditions[0];
  assert.deepEqual([again?.completeTime, again?.lastTransitionTime], [NOW, NOW]);
  assert.equal(again?.lastProbeTime, renderTime(later));
  const waiting = run([step("A", wait("x"))], first, later).end.status.history[0]?.conditions[0];
  assert.deepEqual([waiting?.completeTime, waiting?.lastTransitionTime], [NOW, renderTime(later)]);
  const failing = run([step("A", fail("x"))], first, later).end.status.history[0]?.conditions[0];
  assert.deepEqual([failing?.completeTime, failing?.startTime], [undefined, NOW]);
});

Deno.test("what a step has done is saved before the next step is decided; gauges are not worth it", () => {
  const lasting = done([{ kind: "endSilence", id: "s" }]);
  const gauge = done([{ kind: "clearMetric", metric: "upgradeoperator_scaling_failed" }]);
  const result = run([step("A", gauge), step("B", lasting), step("C", wait("x"), () => ["pools"])]);
  assert.deepEqual(result.requests.map(({ kind }) => kind), ["apply", "apply", "save", "read"]);
});

Deno.test("a reading is made once a run, and again when an effect has changed it", () => {
  const seenBy: (readonly string[])[] = [];
  const look = (id: string, result: StepResult): Step => ({
    ...words(id),
    reads: () => ["silences", "pools"],
    decide: ({ read }: Observed) => {
      seenBy.push(Object.keys(read).toSorted());
      return result;
    },
  });
  const result = run([look("A", done()), look("B", done([{ kind: "endSilence", id: "s" }])), look("C", done())]);
  assert.deepEqual(result.reads, ["silences", "pools", "silences"]);
  assert.deepEqual(seenBy, [["pools", "silences"], ["pools", "silences"], ["pools", "silences"]]);
});
