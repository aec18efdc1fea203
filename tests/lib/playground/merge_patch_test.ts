// Merge patches: RFC 7386, and what the strategic form adds.
import assert from "node:assert/strict";
import { mergePatch, strategicMergePatch } from "../../../lib/playground/merge_patch.ts";

Deno.test("mergePatch() merges objects, replaces lists and removes by null", () => {
  const target = { a: { x: 1, y: 2 }, l: [1, 2], gone: true };
  const patch = { a: { y: null, z: 3 }, l: [3], gone: null };
  assert.deepEqual(mergePatch(target, patch), { a: { x: 1, z: 3 }, l: [3] });
});

Deno.test("strategicMergePatch() merges containers by name and ignores directives", () => {
  const target = { containers: [{ name: "a", image: "1" }, { name: "b", image: "1" }], finalizers: ["x"] };
  const patch = {
    "$setElementOrder/containers": [{ name: "b" }],
    containers: [{ name: "b", image: "2" }, { name: "c", image: "3" }],
    finalizers: ["y"],
  };
  assert.deepEqual(strategicMergePatch(target, patch), {
    containers: [{ name: "a", image: "1" }, { name: "b", image: "2" }, { name: "c", image: "3" }],
    finalizers: ["y"],
  });
});

Deno.test("strategicMergePatch() removes a list item on $patch: delete", () => {
  const target = { schedulingGates: [{ name: "a" }, { name: "b" }] };
  const patch = { schedulingGates: [{ name: "a", $patch: "delete" }] };
  assert.deepEqual(strategicMergePatch(target, patch), { schedulingGates: [{ name: "b" }] });
});
