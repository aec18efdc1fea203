import assert from "node:assert/strict";
import fc from "fast-check";
import fastJsonPatch from "fast-json-patch";
import { applyJsonPatch, mergePatch } from "../../playground/patches.ts";

const APPLIED: readonly (readonly [string, unknown, unknown, unknown])[] = [
  ["adds a member", {}, [{ op: "add", path: "/a", value: 1 }], { a: 1 }],
  ["replaces with add", { a: 1 }, [{ op: "add", path: "/a", value: 2 }], { a: 2 }],
  ["inserts into a list", [1, 3], [{ op: "add", path: "/1", value: 2 }], [1, 2, 3]],
  ["appends with -", { l: [1] }, [{ op: "add", path: "/l/-", value: 2 }], { l: [1, 2] }],
  ["unescapes ~1 and ~0", { "a/b": { "c~d": 1 } }, [{ op: "remove", path: "/a~1b/c~0d" }], { "a/b": {} }],
  ["removes from a list", { l: [1, 2] }, [{ op: "remove", path: "/l/0" }], { l: [2] }],
  ["replaces a list item", { l: [1, 2] }, [{ op: "replace", path: "/l/1", value: 5 }], { l: [1, 5] }],
  ["replaces the document", { a: 1 }, [{ op: "replace", path: "", value: { b: 1 } }], { b: 1 }],
  ["moves", { a: { x: 1 } }, [{ op: "move", from: "/a/x", path: "/b" }], { a: {}, b: 1 }],
  ["copies", { a: 1 }, [{ op: "copy", from: "/a", path: "/b" }], { a: 1, b: 1 }],
  ["passes a test of any order", { a: { x: 1, y: [2] } }, [{ op: "test", path: "/a", value: { y: [2], x: 1 } }], {
    a: { x: 1, y: [2] },
  }],
  ["adds null", {}, [{ op: "add", path: "/a", value: null }], { a: null }],
];

Deno.test("applyJsonPatch() follows RFC 6902", async (t) => {
  for (const [name, before, patch, after] of APPLIED) {
    await t.step(name, () => assert.deepEqual(applyJsonPatch(before, patch), after));
  }
});

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

Deno.test("applyJsonPatch() reaches the target of any patch that another library makes", () => {
  // The library refuses to write a member "__proto__".
  const json = fc.dictionary(fc.constantFrom("a", "b/c", "d~e", "f"), fc.jsonValue({ maxDepth: 3 }))
    .filter((value) => !JSON.stringify(value).includes("__proto__"));
  fc.assert(fc.property(json, json, (before, after) => {
    const from = JSON.parse(JSON.stringify(before));
    const to = JSON.parse(JSON.stringify(after));
    assert.deepEqual(applyJsonPatch(from, fastJsonPatch.compare(from, to)), to);
  }));
});

Deno.test("mergePatch() merges objects, replaces lists and removes by null", () => {
  const target = { a: { x: 1, y: 2 }, l: [1, 2], gone: true };
  const patch = { a: { y: null, z: 3 }, l: [3], gone: null };
  assert.deepEqual(mergePatch(target, patch), { a: { x: 1, z: 3 }, l: [3] });
});

Deno.test("mergePatch() ignores directives of a strategic merge", () => {
  assert.deepEqual(mergePatch({ a: 1 }, { "$setElementOrder/containers": [{ name: "b" }], b: 2 }), { a: 1, b: 2 });
});
