import assert from "node:assert/strict";
import { parseDeliveries } from "../../../../../lib/upgrades/decide/types/plan.ts";
import { renderTime } from "../../../../../lib/vocabulary/time.ts";
import { sinksOf, withDelivery } from "../../../../../lib/upgrades/decide/notifications/notify.ts";
import { makeHistory, makePlan } from "../make_plan.ts";

const DELIVERIES = [{ id: "a", sinks: ["event"] }, { id: "b", sinks: ["event", "webhook"] }];

Deno.test("deliveries are read as they are written, and what is no delivery is left out", () => {
  assert.deepEqual(parseDeliveries({ deliveries: DELIVERIES }), DELIVERIES);
  assert.deepEqual(parseDeliveries({ deliveries: [7, { id: "c" }, { id: "d", sinks: ["x", 1] }] }), [
    { id: "c", sinks: [] },
    { id: "d", sinks: ["x"] },
  ]);
  assert.deepEqual(parseDeliveries(undefined), []);
  assert.deepEqual([sinksOf(DELIVERIES, "b"), sinksOf(DELIVERIES, "c")], [["event", "webhook"], []]);
});

Deno.test("withDelivery() replaces one, takes an empty one away, and drops those that the history has", () => {
  const plan = makePlan();
  const status = { history: [makeHistory({ notifications: [] })], conditions: [] };
  const replaced = withDelivery(DELIVERIES, { id: "a", sinks: ["event", "log"] }, { plan, status });
  assert.deepEqual(replaced, [DELIVERIES[1], { id: "a", sinks: ["event", "log"] }]);
  assert.deepEqual(withDelivery(DELIVERIES, { id: "a", sinks: [] }, { plan, status }), [DELIVERIES[1]]);
  const entry = makeHistory({
    architecture: "Multi",
    notifications: [{ state: "StateStarted", sentTime: renderTime(1) }],
  });
  const sent = { id: `uid-1/${entry.version}/Multi/StateStarted`, sinks: ["event"] };
  const kept = withDelivery([sent], { id: "a", sinks: ["event"] }, { plan, status: { ...status, history: [entry] } });
  assert.deepEqual(kept, [{ id: "a", sinks: ["event"] }]);
});
