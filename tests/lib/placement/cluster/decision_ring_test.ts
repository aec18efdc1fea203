import assert from "node:assert/strict";
import fc from "fast-check";
import { DecisionRing } from "../../../../lib/placement/cluster/decision_ring.ts";
import { DECISION_KINDS } from "../../../../lib/placement/decide/history/recent_decisions.ts";
import { makeEntry } from "../../../routes/dashboard_view.ts";

Deno.test("record() keeps the newest entries, newest first, and counts all of them", () => {
  const kinds = fc.array(fc.constantFrom(...DECISION_KINDS), { maxLength: 40 });
  fc.assert(fc.property(fc.integer({ min: 1, max: 12 }), kinds, (capacity, recorded) => {
    const decisions = new DecisionRing({ capacity });
    recorded.forEach((kind, atMs) => decisions.record(makeEntry({ kind, atMs })));
    const { recent, totals } = decisions.snapshot();
    const newestFirst = recorded.map((_, atMs) => atMs).reverse().slice(0, capacity);
    assert.deepEqual(recent.map(({ atMs }) => atMs), newestFirst);
    for (const kind of DECISION_KINDS) assert.equal(totals[kind], recorded.filter((each) => each === kind).length);
  }));
});

Deno.test("record() does not follow later changes of the architectures it was given", () => {
  const decisions = new DecisionRing({ capacity: 1 });
  const architectures = ["amd64"];
  decisions.record(makeEntry({ architectures }));
  architectures.push("arm64");
  assert.deepEqual(decisions.snapshot().recent[0]?.architectures, ["amd64"]);
});

Deno.test("record() keeps no name and no list that is longer than a cluster could hold", () => {
  const decisions = new DecisionRing({ capacity: 1 });
  const long = "x".repeat(1_000_000);
  const architectures = Array.from({ length: 5_000 }, (_, n) => `cpu${n}`);
  decisions.record(makeEntry({ pod: long, namespace: long, architectures: [long, ...architectures] }));
  assert.ok(JSON.stringify(decisions.snapshot().recent).length < 1_000);
});
