import assert from "node:assert/strict";
import fc from "fast-check";
import { mergeLines } from "../../manifests/generate/merge_lines.ts";

const TEXT = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 });

function pick(merged: ReturnType<typeof mergeLines>, chosen: string | undefined): readonly string[] {
  return merged.filter(({ condition }) =>
    condition === undefined || condition === chosen ||
    (condition.startsWith("not ") && !condition.split(/[ ()]+/).slice(1).includes(chosen ?? "-"))
  ).flatMap(({ lines }) => lines);
}

Deno.test("mergeLines() gives back every version under its condition and the base under none", () => {
  fc.assert(fc.property(TEXT, fc.array(TEXT, { maxLength: 4 }), (base, texts) => {
    const variants = texts.map((lines, index) => ({ condition: `c${index}`, lines }));
    const merged = mergeLines(base, variants);
    assert.deepEqual(pick(merged, undefined), base);
    for (const { condition, lines } of variants) assert.deepEqual(pick(merged, condition), lines);
  }));
});
