import assert from "node:assert/strict";
import fc from "fast-check";
import { MAX_PAGE_BYTES, nextPageSize, smallerPageSize } from "../../../lib/k8s/lists.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

const NEXT:
  readonly (readonly [what: string, limit: number, count: number, bytes: number | undefined, next: number])[] = [
    ["pods of 8 KiB: as many as the target holds", 200, 200, 1_600 * KIB, 384],
    ["small objects: doubled until there are 500", 400, 400, 400 * KIB, 500],
    ["an empty page of a selection", 50, 0, 200, 100],
    ["one object, larger than the target", 1, 1, 9 * MIB, 1],
    ["bytes that were not counted", 50, 50, undefined, 50],
  ];

for (const [what, limit, count, bytes, next] of NEXT) {
  Deno.test(`nextPageSize() ${what}: ${limit} → ${next}`, () => {
    assert.equal(nextPageSize({ limit, count, bytes }), next);
  });
}

Deno.test("smallerPageSize() ends at single objects", () => {
  assert.deepEqual([500, 50, 12, 3, 2, 1].map(smallerPageSize), [125, 12, 3, 1, 1, undefined]);
});

Deno.test("nextPageSize() gives pages within the bytes that are read, as long as objects stay as large as they are", () => {
  fc.assert(fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 3 * MIB }), (limit, size) => {
    const next = nextPageSize({ limit, count: limit, bytes: limit * size });
    assert.ok(next >= 1 && next <= 500 && next <= limit * 2);
    assert.ok(next * size <= MAX_PAGE_BYTES, `${next} of ${size}`);
  }));
});
