import assert from "node:assert/strict";
import {
  mayFollow,
  ocmStateOf,
  ocmValueOf,
  serviceLogOf,
} from "../../../../../lib/upgrades/decide/notifications/ocm_states.ts";

const stored = (value: string, description = "") => ({ value, description });

Deno.test("M-362 valueOf() and stateOf() translate, and know what is none of ours", () => {
  assert.equal(ocmValueOf("StateStarted"), "started");
  assert.equal(ocmValueOf("StateScaleSkipped"), "delayed");
  assert.equal(ocmValueOf("StateSkipped"), "delayed");
  assert.equal(ocmValueOf("StateControlPlaneStartedSL"), undefined);
  assert.equal(ocmValueOf("StateMultiArchCapable"), undefined);
  assert.equal(ocmStateOf(stored("scheduled")), "Scheduled");
  assert.equal(ocmStateOf(stored("delayed", "it will retry")), "Delayed");
  assert.equal(ocmStateOf(stored("delayed", "no capacity")), "Skipped");
  for (const value of ["", "toString", "unheard-of"]) {
    assert.equal(mayFollow(stored(value), "StateStarted"), false, value);
  }
});

Deno.test("M-363 mayFollow() lets a scheduled upgrade start, and nothing follow pending, completed, failed or cancelled", () => {
  assert.equal(mayFollow(stored("scheduled"), "StateStarted"), true);
  assert.equal(mayFollow(stored("scheduled"), "StateCompleted"), false);
  for (const value of ["pending", "completed", "failed", "cancelled", "unheard-of"]) {
    for (const next of ["StateStarted", "StateDelayed", "StateCompleted", "StateFailed"] as const) {
      assert.equal(mayFollow(stored(value), next), false, `${value} → ${next}`);
    }
  }
});

Deno.test("mayFollow() follows an upgrade that runs, and does not start it twice", () => {
  for (const next of ["StateScaleSkipped", "StateDelayed", "StateCompleted", "StateFailed"] as const) {
    assert.equal(mayFollow(stored("started"), next), true, next);
  }
  assert.equal(mayFollow(stored("started"), "StateStarted"), false);
  // Skipped capacity and a delay are stored in the same word.
  assert.equal(mayFollow(stored("delayed", "no capacity"), "StateDelayed"), true);
  assert.equal(mayFollow(stored("delayed", "will retry"), "StateCompleted"), true);
});

Deno.test("M-364 serviceLogOf() has a summary for each state of the service log, and none for others", () => {
  const states = [
    "StateHealthCheckSL",
    "StatePreHealthCheckSL",
    "StateControlPlaneStartedSL",
    "StateControlPlaneFinishedSL",
    "StateWorkerPlaneFinishedSL",
  ] as const;
  assert.equal(new Set(states.map((state) => serviceLogOf(state)?.summary)).size, 5);
  assert.equal(serviceLogOf("StateHealthCheckSL")?.references.length, 1);
  assert.equal(serviceLogOf("StateStarted"), undefined);
});
