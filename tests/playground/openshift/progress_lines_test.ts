import assert from "node:assert/strict";
import { openFastClock, ProgressLines } from "../../../playground/openshift/outside.ts";
import type { PlanProgress, StepProgress } from "../../../lib/upgrades/decide/progress.ts";
import { FakeClock } from "../../support/fake_clock.ts";

function progress(steps: readonly Pick<StepProgress, "id" | "state" | "message">[]): PlanProgress {
  const times = { startMs: undefined, completeMs: undefined };
  const target = { version: "4.20.5", architecture: "Multi" };
  return {
    ...target,
    phase: "Upgrading",
    ...times,
    steps: steps.map((step) => ({ ...step, ...times, stage: "Before", title: step.id })),
  };
}

Deno.test("linesOf() reports only what is new: a step that begins to wait, waits for something else, or ends", () => {
  const lines = new ProgressLines();
  const waiting = { id: "UpgradeCommenced", state: "waiting", message: "for the API" } as const;
  const open = { id: "WorkerNodesUpgraded", state: "open", message: "" } as const;
  assert.deepEqual(lines.linesOf(progress([waiting, open]), 1_234), [
    "  1.2s  Phase                                Upgrading\n",
    "  1.2s  UpgradeCommenced                     waiting   for the API\n",
  ]);
  assert.deepEqual(lines.linesOf(progress([waiting, open]), 2_000), []);
  assert.deepEqual(lines.linesOf(progress([{ ...waiting, state: "done", message: "" }, open]), 2_000), [
    "  2.0s  UpgradeCommenced                     done\n",
  ]);
});

Deno.test("openFastClock() lets time pass faster, and sleeps shorter", async () => {
  const clock = new FakeClock();
  const startMs = clock.nowMs();
  const fast = openFastClock(clock, 30);
  let woke = false;
  const sleeping = fast.sleep(60_000, new AbortController().signal).then(() => woke = true);
  await clock.advance(1_999);
  assert.equal(woke, false);
  await clock.advance(1);
  await sleeping;
  assert.deepEqual([fast.nowMs() - startMs, fast.monotonicMs()], [60_000, 60_000]);
});
