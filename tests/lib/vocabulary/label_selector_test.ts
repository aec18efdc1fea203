import assert from "node:assert/strict";
import {
  CLUSTER_SELECTOR_BOUNDS,
  matchesSelector,
  meetsRequirement,
  parseRequirement,
  parseSelector,
  SELECTOR_BOUNDS,
} from "../../../lib/vocabulary/label_selector.ts";

const NODE_LABELS = { app: "web", "x.io/tier": "front", empty: "" };

const is = (matchLabels: Record<string, string>): unknown => ({ matchLabels });
const when = (key: string, operator: string, ...values: readonly string[]): unknown => ({
  matchExpressions: [{ key, operator, ...(values.length === 0 ? {} : { values }) }],
});

const SELECTED: readonly (readonly [unknown, boolean])[] = [
  [undefined, true],
  [null, true],
  [{}, true],
  [is({ app: "web" }), true],
  [is({ app: "db" }), false],
  [is({ app: "web", missing: "" }), false],
  [is({ empty: "" }), true],
  [when("app", "In", "db", "web"), true],
  [when("app", "In", "db"), false],
  [when("missing", "In", "db"), false],
  [when("app", "NotIn", "db"), true],
  [when("app", "NotIn", "web", "db"), false],
  [when("missing", "NotIn", "db"), true],
  [when("x.io/tier", "Exists"), true],
  [when("missing", "Exists"), false],
  [when("missing", "DoesNotExist"), true],
  [when("empty", "DoesNotExist"), false],
  [when("constructor", "Exists"), false],
  [{ ...Object(is({ app: "web" })), ...Object(when("missing", "DoesNotExist")) }, true],
  [{ ...Object(is({ app: "db" })), ...Object(when("missing", "DoesNotExist")) }, false],
  // Faulty ones select nothing.
  [when("app", "Gt", "1"), false],
  [is({ "bad~key": "x" }), false],
  ["app=web", false],
];

for (const [selector, expected] of SELECTED) {
  Deno.test(`matchesSelector() is ${expected} for ${JSON.stringify(selector)}`, () => {
    assert.equal(matchesSelector(parseSelector(selector), NODE_LABELS), expected);
  });
}

Deno.test("matchesSelector() takes an object without labels for one that has none of them", () => {
  assert.equal(matchesSelector(parseSelector(when("app", "DoesNotExist")), undefined), true);
  assert.equal(matchesSelector(parseSelector(when("app", "Exists")), undefined), false);
});

Deno.test("parseRequirement() reads the operators of label selectors, and no others", () => {
  const operators = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "in", ""];
  const read = operators.filter((operator) => parseRequirement({ key: "a", operator, values: ["1"] }) !== undefined);
  assert.deepEqual(read, ["In", "NotIn", "Exists", "DoesNotExist"]);
  assert.equal(parseRequirement({ operator: "Exists" }), undefined);
  assert.equal(parseRequirement({ key: "a", operator: "In", values: "1" }), undefined);
});

Deno.test("parseRequirement() reads values that are no texts as ones that no label has", () => {
  const requirement = parseRequirement({ key: "a", operator: "In", values: [7] });
  assert.ok(requirement !== undefined);
  assert.equal(meetsRequirement("7", requirement), false);
});

Deno.test("parseSelector() refuses what the API server refuses", () => {
  const expression = (key: unknown, operator: unknown, values?: unknown): unknown => ({
    matchExpressions: [{ key, operator, values }],
  });
  const faulty = [
    7,
    [],
    { matchLabels: [] },
    { matchLabels: { a: 7 } },
    { matchLabels: { "a/b/c": "x" } },
    { matchLabels: { "UPPER.prefix/x": "x" } },
    { matchLabels: { a: "not a value" } },
    { matchExpressions: {} },
    { matchExpressions: [null] },
    expression("a", "Equals", ["x"]),
    expression("a", "In"),
    expression("a", "In", []),
    expression("a", "Exists", ["x"]),
    expression(7, "Exists"),
    expression("", "Exists"),
  ];
  for (const raw of faulty) assert.equal(parseSelector(raw).kind, "unparsable", JSON.stringify(raw));
  for (const raw of [undefined, null, {}, { matchLabels: {}, matchExpressions: [] }]) {
    assert.equal(parseSelector(raw).kind, "everything", JSON.stringify(raw));
  }
});

Deno.test("parseSelector() keeps nothing of a selector beyond its bounds, and names the bound", () => {
  const texts = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `v${at}`);
  const { labels, expressions, values } = SELECTOR_BOUNDS;
  const rows: readonly (readonly [unknown, RegExp])[] = [
    [is(Object.fromEntries(texts(labels + 1).map((key) => [key, "x"]))), /65 labels, and at most 64 are read/],
    [
      { matchExpressions: texts(expressions + 1).map((key) => ({ key, operator: "Exists" })) },
      /17 expressions, and at most 16 are read/,
    ],
    [when("app", "NotIn", ...texts(values + 1)), /an expression has 65 values, and at most 64 are read/],
    [{ matchExpressions: [{ key: "app", operator: "NotIn", values: texts(150_000) }] }, /150000 values/],
    [when("k".repeat(1_400_000), "Exists"), /^.{100,300}$/],
    [when("app", "In", "v".repeat(1_400_000)), /^.{100,300}$/],
    [when("app", "o".repeat(1_400_000)), /^.{100,300}$/],
  ];
  for (const [raw, message] of rows) {
    const selector = parseSelector(raw);
    assert.deepEqual(Object.keys(selector), ["kind", "message"]);
    assert.match(selector.kind === "unparsable" ? selector.message : "", message);
  }
});

Deno.test("parseSelector() reads more of what only administrators write", () => {
  const values = Array.from({ length: 1_024 }, (_, at) => `team-${at}`);
  const raw = when("kubernetes.io/metadata.name", "NotIn", ...values);
  assert.equal(parseSelector(raw).kind, "unparsable");
  assert.equal(parseSelector(raw, CLUSTER_SELECTOR_BOUNDS).kind, "requirements");
});
