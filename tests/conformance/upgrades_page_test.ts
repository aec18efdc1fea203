import assert from "node:assert/strict";
import { parse } from "yaml";
import { decodeOperatorConfig } from "../../lib/upgrades/decide/types/operator_config.ts";
import { rowsUnder } from "./sources.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/upgrades.md", import.meta.url));

/** The page alone has `configManager.localConfigName`: it must have its default, so no decoded configuration holds it. */
const ON_PAGE_ALONE = 1;

/** A tree with one member, by its path: `a.b` is `{ a: { b: value } }`. */
function treeWith(path: string, value: unknown): unknown {
  return path.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
}

/** How many values a decoded configuration has; lists and sets count as one. */
function countLeaves(value: unknown): number {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Set) return 1;
  return Object.values(value).reduce((sum: number, member) => sum + countLeaves(member), 0);
}

Deno.test("docs/upgrades.md has every setting of upgrades with its default, and no other", () => {
  const without = decodeOperatorConfig({});
  assert.ok(without.kind === "parsed");
  const rows = rowsUnder(PAGE, "## Settings").map(([key = "", fallback = ""]) =>
    [key.replaceAll("`", ""), fallback.replaceAll("`", "")] as const
  );
  assert.equal(new Set(rows.map(([key]) => key)).size, countLeaves(without.config) + ON_PAGE_ALONE);
  for (const [key, fallback] of rows) {
    const wrong = decodeOperatorConfig(treeWith(key, { no: "value" }));
    assert.ok(wrong.kind === "unparsable" && wrong.problems.some((problem) => problem.startsWith(`${key} `)), key);
    if (fallback !== "–") assert.deepEqual(decodeOperatorConfig(treeWith(key, parse(fallback))), without, key);
  }
});
