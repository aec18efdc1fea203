// Label selectors: what is refused, and what each form selects, for configs, budgets, pools and the played cluster alike.
import assert from "node:assert/strict";
import { matchesSelector, meetsRequirement, parseRequirement, parseSelector } from "../../../lib/k8s/label_selector.ts";

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
