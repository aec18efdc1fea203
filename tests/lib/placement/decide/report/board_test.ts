import assert from "node:assert/strict";
import fc from "fast-check";
import { BOARD_KINDS, type BoardEntry, openBoard } from "../../../../../lib/placement/decide/report/board.ts";

function makeEntry(overrides: Partial<BoardEntry> = {}): BoardEntry {
  return {
    atMs: 1_000,
    namespace: "team",
    pod: "web",
    kind: "place",
    reason: "Placed",
    architectures: ["amd64"],
    images: [],
    gatedMs: 12,
    ...overrides,
  };
}

Deno.test("record() keeps the newest entries, newest first, and counts all of them", () => {
  const kinds = fc.array(fc.constantFrom(...BOARD_KINDS), { maxLength: 40 });
  fc.assert(fc.property(fc.integer({ min: 1, max: 12 }), kinds, (capacity, recorded) => {
    const board = openBoard({ capacity });
    recorded.forEach((kind, atMs) => board.record(makeEntry({ kind, atMs })));
    const { recent, totals } = board.snapshot();
    const newestFirst = recorded.map((_, atMs) => atMs).reverse().slice(0, capacity);
    assert.deepEqual(recent.map(({ atMs }) => atMs), newestFirst);
    for (const kind of BOARD_KINDS) assert.equal(totals[kind], recorded.filter((each) => each === kind).length);
  }));
});

Deno.test("record() does not follow later changes of the architectures it was given", () => {
  const board = openBoard({ capacity: 1 });
  const architectures = ["amd64"];
  board.record(makeEntry({ architectures }));
  architectures.push("arm64");
  assert.deepEqual(board.snapshot().recent[0]?.architectures, ["amd64"]);
});

Deno.test("record() keeps no name and no list that is longer than a cluster could hold", () => {
  const board = openBoard({ capacity: 1 });
  const long = "x".repeat(1_000_000);
  const architectures = Array.from({ length: 5_000 }, (_, n) => `cpu${n}`);
  board.record(makeEntry({ pod: long, namespace: long, architectures: [long, ...architectures] }));
  assert.ok(JSON.stringify(board.snapshot().recent).length < 1_000);
});
