import assert from "node:assert/strict";
import { parseYaml } from "../../lib/vocabulary/yaml.ts";
import { asParsed, faultText, unparsable } from "../../lib/parsed.ts";

Deno.test("parseYaml() gives plain values, of JSON as well", () => {
  assert.deepEqual(parseYaml("a: [1, two]\nb: null"), asParsed({ a: [1, "two"], b: null }));
  assert.deepEqual(parseYaml('{"a": true}'), asParsed({ a: true }));
  assert.deepEqual(parseYaml(""), asParsed(null));
});

Deno.test("parseYaml() refuses a bomb of aliases, deep nesting and long texts", () => {
  const levels = Array.from({ length: 30 }, (_, at) => `l${at}: &l${at} [*l${at - 1}, *l${at - 1}]`).slice(1);
  const why = "nested too deeply or with too many aliases";
  assert.deepEqual(parseYaml(["l0: &l0 [x]", ...levels].join("\n")), unparsable(why));
  assert.deepEqual(parseYaml("[".repeat(60_000)), unparsable("not YAML: resource exhaustion", 1));
  assert.deepEqual(parseYaml(" ".repeat(2 ** 16 + 1)), unparsable("larger than 64 KiB"));
});

Deno.test("parseYaml() says what is wrong and where, and never quotes the text", () => {
  const parsed = parseYaml("a: 1\npassword: c4nary: x");
  assert.equal(parsed.kind === "unparsable" && faultText(parsed.fault), "not YAML: block as implicit key in line 2");
});
