import assert from "node:assert/strict";
import { requireKubeObject } from "../../playground/cluster.ts";
import { parseFieldSelector, parseLabelSelector } from "../../playground/selectors.ts";

const POD = requireKubeObject({
  metadata: { name: "p", namespace: "n", labels: { app: "web", "x.io/tier": "front", empty: "" } },
  spec: { nodeName: "node-1" },
  status: { phase: "Pending" },
});

const LABELS: readonly (readonly [string, boolean])[] = [
  ["", true],
  ["app=web", true],
  ["app==web", true],
  ["app=db", false],
  ["app!=db", true],
  ["app in (db, web)", true],
  ["app notin (web)", false],
  ["app", true],
  ["!app", false],
  ["! missing", true],
  ["x.io/tier=front,app in (web),!missing", true],
  ["empty=", true],
];

Deno.test("parseLabelSelector() selects as kubectl -l does", () => {
  for (const [text, selected] of LABELS) assert.equal(parseLabelSelector(text)(POD), selected, text);
});

const FIELDS: readonly (readonly [string, boolean])[] = [
  ["", true],
  ["metadata.name=p", true],
  ["metadata.namespace=other", false],
  ["status.phase=Pending,spec.nodeName!=", true],
  ["spec.nodeName=node-1", true],
  ["status.phase!=Pending", false],
];

Deno.test("parseFieldSelector() selects by fields, and absent fields are empty", () => {
  for (const [text, selected] of FIELDS) assert.equal(parseFieldSelector(text)(POD), selected, text);
  const event = requireKubeObject({ metadata: { name: "e" }, involvedObject: { name: "p" }, reason: "R" });
  assert.equal(parseFieldSelector("involvedObject.name=p,reason=R")(event), true);
});

Deno.test("parseLabelSelector() and parseFieldSelector() answer nonsense with 400", () => {
  assert.throws(() => parseLabelSelector("a=b=c"), { name: "StatusError", status: 400 });
  assert.throws(() => parseFieldSelector("spec.containers[0].image=x"), { name: "StatusError", status: 400 });
});
