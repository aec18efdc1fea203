// RFC 6902 application: a table of its rules, what the API server is stricter in, and patches that the library makes.
import assert from "node:assert/strict";
import fc from "fast-check";
import fastJsonPatch from "fast-json-patch";
import { renderJsonBody } from "../../../lib/k8s/json_body.ts";
import { applyJsonPatch, JsonPatchError } from "../../../lib/playground/json_patch.ts";

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
  ["passes a test regardless of member order", { a: { x: 1, y: [2] } }, [{
    op: "test",
    path: "/a",
    value: { y: [2], x: 1 },
  }], { a: { x: 1, y: [2] } }],
  ["adds null", {}, [{ op: "add", path: "/a", value: null }], { a: null }],
];

Deno.test("applyJsonPatch() follows RFC 6902", async (t) => {
  for (const [name, before, patch, after] of APPLIED) {
    await t.step(name, () => assert.deepEqual(applyJsonPatch(before, JSON.stringify(patch)), after));
  }
});

const REFUSED: readonly (readonly [string, unknown, "malformed" | "unapplicable"])[] = [
  ["a failed test", [{ op: "test", path: "/a", value: 2 }], "unapplicable"],
  ["a test of a missing path", [{ op: "test", path: "/z", value: 1 }], "unapplicable"],
  ["removing what is not there", [{ op: "remove", path: "/z" }], "unapplicable"],
  ["replacing what is not there", [{ op: "replace", path: "/z", value: 1 }], "unapplicable"],
  ["adding below a missing parent", [{ op: "add", path: "/z/y", value: 1 }], "unapplicable"],
  ["an index beyond the list", [{ op: "add", path: "/l/9", value: 1 }], "unapplicable"],
  ["an inherited member", [{ op: "test", path: "/constructor", value: 1 }], "unapplicable"],
  ["an unknown operation", [{ op: "merge", path: "/a" }], "malformed"],
  ["a missing value", [{ op: "add", path: "/a" }], "malformed"],
  ["a path that is no pointer", [{ op: "remove", path: "a" }], "malformed"],
  ["a patch that is no list", { op: "remove", path: "/a" }, "malformed"],
];

Deno.test("applyJsonPatch() refuses and leaves the document alone", async (t) => {
  for (const [name, patch, problem] of REFUSED) {
    await t.step(name, () => {
      const document = { a: 1, l: [1] };
      assert.throws(
        () => applyJsonPatch(document, JSON.stringify(patch)),
        (error) => error instanceof JsonPatchError && error.problem === problem,
      );
      assert.deepEqual(document, { a: 1, l: [1] });
    });
  }
});

const TESTS: readonly (readonly [string, unknown, string, boolean])[] = [
  ["plain text", "a", `"a"`, true],
  ["text that Go escapes, escaped", "<a&b>", `"\\u003ca\\u0026b\\u003e"`, true],
  ["text that Go escapes, as itself", "<a&b>", `"<a&b>"`, false],
  ["an escape in capitals", "<", `"\\u003C"`, false],
  ["a line separator as itself", "\u2028", `"\u2028"`, false],
  ["text that Go does not escape, escaped", "a", `"\\u0061"`, false],
  ["a number", 1, "1", true],
  ["a number in other words", 1, "1.0", false],
  ["text in a list in an object", { l: ["<"] }, `{"l":["\\u003c"]}`, true],
  ["the same as itself", { l: ["<"] }, `{"l":["<"]}`, false],
  ["a member more", { a: 1 }, `{"a":1,"b":2}`, false],
  ["a text of digits for a number", 1, `"1"`, false],
];

Deno.test("applyJsonPatch() compares a test's numbers and texts by their bytes", async (t) => {
  for (const [name, held, written, passes] of TESTS) {
    await t.step(name, () => {
      const apply = (): unknown => applyJsonPatch({ a: held }, `[{"op":"test","path":"/a","value":${written}}]`);
      if (passes) assert.deepEqual(apply(), { a: held });
      else assert.throws(apply, JsonPatchError);
    });
  }
});

Deno.test("renderJsonBody() writes every text so that a test of it passes", () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom("<", ">", "&", "\u2028", "\u2029", "\\", '"'), fc.string()),
  });
  fc.assert(fc.property(text, text, (image, value) => {
    const document = { image, terms: [{ values: [value] }] };
    const operations = [
      { op: "test", path: "/image", value: image },
      { op: "test", path: "/terms", value: document.terms },
    ];
    assert.deepEqual(applyJsonPatch(document, renderJsonBody(operations)), document);
    assert.deepEqual(JSON.parse(renderJsonBody(document)), document);
  }));
});

Deno.test("applyJsonPatch() reaches the target of any patch that another library makes", () => {
  // The library refuses to write a member "__proto__".
  const json = fc.dictionary(fc.constantFrom("a", "b/c", "d~e", "f"), fc.jsonValue({ maxDepth: 3 }))
    .filter((value) => !JSON.stringify(value).includes("__proto__"));
  fc.assert(fc.property(json, json, (before, after) => {
    const from = JSON.parse(JSON.stringify(before));
    const to = JSON.parse(JSON.stringify(after));
    assert.deepEqual(applyJsonPatch(from, JSON.stringify(fastJsonPatch.compare(from, to))), to);
  }));
});
