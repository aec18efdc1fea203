import assert from "node:assert/strict";
import { slowness } from "./slow_patterns.ts";

for (
  const [pattern, flags, texts] of [
    [String.raw`=+$`, "", "many of ="],
    [String.raw`\s+$`, "", String.raw`many of \s`],
    [String.raw`^(a+)+$`, "", "many of a"],
    [String.raw`^[^/]*\.[^/]*\/`, "", String.raw`many of \.`],
    [String.raw`(?<!=)=+$`, "", undefined],
    [String.raw`^[^/.]*\.[^/]*\/`, "", undefined],
    [String.raw`\d+s`, "y", undefined],
  ] as const
) {
  Deno.test(`/${pattern}/${flags} is ${texts === undefined ? "taken" : "refused"}`, () => {
    assert.equal(slowness(pattern, flags), texts);
  });
}
