import assert from "node:assert/strict";
import { applyJsonPatch, mergePatch } from "../../playground/patches.ts";

const REFUSED: readonly (readonly [string, unknown, 400 | 422])[] = [
  ["a failed test", [{ op: "test", path: "/a", value: 2 }], 422],
  ["a test of a missing path", [{ op: "test", path: "/z", value: 1 }], 422],
  ["removing what is not there", [{ op: "remove", path: "/z" }], 422],
  ["replacing what is not there", [{ op: "replace", path: "/z", value: 1 }], 422],
  ["adding below a missing parent", [{ op: "add", path: "/z/y", value: 1 }], 422],
  ["an index beyond the list", [{ op: "add", path: "/l/9", value: 1 }], 422],
  ["an inherited member", [{ op: "test", path: "/constructor", value: 1 }], 422],
  ["an unknown operation", [{ op: "merge", path: "/a" }], 400],
  ["a missing value", [{ op: "add", path: "/a" }], 400],
  ["a path that is no pointer", [{ op: "remove", path: "a" }], 400],
  ["a patch that is no list", { op: "remove", path: "/a" }, 400],
];

Deno.test("applyJsonPatch() refuses and leaves the document alone", async (t) => {
  for (const [name, patch, status] of REFUSED) {
    await t.step(name, () => {
      const document = { a: 1, l: [1] };
      assert.throws(() => applyJsonPatch(document, patch), { name: "StatusError", status });
      assert.deepEqual(document, { a: 1, l: [1] });
    });
  }
});

Deno.test("mergePatch() merges objects, replaces lists and removes by null", () => {
  const target = { a: { x: 1, y: 2 }, l: [1, 2], gone: true };
  const patch = { a: { y: null, z: 3 }, l: [3], gone: null };
  assert.deepEqual(mergePatch(target, patch), { a: { x: 1, z: 3 }, l: [3] });
});

Deno.test("mergePatch() ignores directives of a strategic merge", () => {
  assert.deepEqual(mergePatch({ a: 1 }, { "$setElementOrder/containers": [{ name: "b" }], b: 2 }), { a: 1, b: 2 });
});
