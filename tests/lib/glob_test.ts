import assert from "node:assert/strict";
import fc from "fast-check";
import { matchesGlob, parseGlob } from "../../lib/vocabulary/glob.ts";

const PATTERNS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["", [""], ["a"]],
  ["infra", ["infra"], ["infra2", "in"]],
  ["gpu-*", ["gpu-", "gpu-a1"], ["gpu", "gpu-a/b"]],
  ["gpu-?", ["gpu-1", "gpu-é", "gpu-😀"], ["gpu-", "gpu-12", "gpu-/"]],
  ["a*b*c", ["abc", "axbxbxc"], ["ab", "a/bc"]],
  ["[ab]-[0-9]", ["a-1", "b-9"], ["c-1", "a-x"]],
  ["[^a]*", ["b1", "/1"], ["a1", ""]],
  ["[!a]", ["!", "a"], ["b"]],
  ["*[^x]*b", ["cab"], ["ab/cb"]],
  ["\\*", ["*"], ["x"]],
  ["[\\]]", ["]"], ["x"]],
  ["[*?[]", ["*", "?", "["], ["x"]],
  ["[z-a]", [], ["a", "z"]],
  ["a.b", ["a.b"], ["axb"]],
];

Deno.test("matchesGlob() matches as path.Match of Go does", () => {
  for (const [pattern, yes, no] of PATTERNS) {
    const glob = parseGlob(pattern);
    assert.ok(glob !== undefined, pattern);
    for (const text of yes) assert.equal(matchesGlob(glob, text), true, `${pattern} ${text}`);
    for (const text of no) assert.equal(matchesGlob(glob, text), false, `${pattern} ${text}`);
  }
});

Deno.test("parseGlob() refuses what path.Match of Go calls a bad pattern", () => {
  for (const pattern of ["[", "[]", "[]a]", "[a", "[a-", "[-a]", "[a-]", "a\\", "[\\", "[\\]", "[^", "[^]"]) {
    assert.equal(parseGlob(pattern), undefined, pattern);
  }
});

Deno.test("matchesGlob() takes a text for its own pattern once it is escaped, and for a star where it has no slash", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => {
    const own = parseGlob(text.replaceAll(/[\\*?[]/g, "\\$&"));
    assert.equal(own !== undefined && matchesGlob(own, text), true);
    assert.equal(matchesGlob(["*"], text), !text.includes("/"));
  }));
});
