import assert from "node:assert/strict";
import { type Condition, parseConditions, setCondition } from "../../../lib/vocabulary/condition.ts";

const SINCE = { lastTransitionTime: "2026-01-01T00:00:00Z" };
const READY: Condition = { type: "Ready", status: "True", reason: "Fine", message: "", ...SINCE };
const NOW_MS = Date.parse("2026-02-01T00:00:00.7Z");

Deno.test("parseConditions() keeps members that it does not know, and leaves out what is no condition", () => {
  const known = { ...READY, observedGeneration: 3, lastHeartbeatTime: "2026-01-02T00:00:00Z" };
  const odd = [{ type: "", status: "True" }, { type: "X", status: "Maybe" }, { status: "True" }, null, "Ready", 1];
  assert.deepEqual(parseConditions({ conditions: [known, ...odd] }), [known]);
  const bare = { type: "Ready", status: "Unknown" };
  const read = { ...bare, reason: "", message: "", lastTransitionTime: "" };
  assert.deepEqual(parseConditions({ conditions: [bare] }), [read]);
  for (const status of [undefined, null, {}, { conditions: {} }]) assert.deepEqual(parseConditions(status), []);
});

Deno.test("setCondition() keeps the time where the status stays, the place in the list, and the list where nothing changes", () => {
  const other: Condition = { ...READY, type: "Other", extra: 1 };
  const before = [READY, other];
  const same = { type: "Ready", status: "True", reason: "Fine", message: "" } as const;
  assert.equal(setCondition(before, same, NOW_MS), before);
  const said = { ...same, message: "well" };
  assert.deepEqual(setCondition(before, said, NOW_MS), [{ ...READY, message: "well" }, other]);
  const lost = { ...same, status: "False" } as const;
  const now = "2026-02-01T00:00:00Z";
  assert.deepEqual(setCondition(before, lost, NOW_MS), [{ ...READY, status: "False", lastTransitionTime: now }, other]);
  assert.deepEqual(setCondition([other], same, NOW_MS), [other, { ...READY, lastTransitionTime: now }]);
  assert.deepEqual(setCondition([{ ...READY, lastTransitionTime: "" }], said, NOW_MS), [
    { ...READY, message: "well", lastTransitionTime: now },
  ]);
});
