import assert from "node:assert/strict";
import type { KubeObject } from "../../lib/k8s/types.ts";
import type { JsonObject } from "../../playground/json_path.ts";
import { chooseNode } from "../../playground/node_fit.ts";
import { inValues, makeNode, makePod, requiring, term } from "./make.ts";

const NODES = [makeNode("amd", "amd64"), makeNode("arm", "arm64")];
const ARCH = "kubernetes.io/arch";
const EXISTS = { key: "x", operator: "Exists" };

function prefer(weight: number, architecture: string): JsonObject {
  const preference = term(inValues(ARCH, architecture));
  return { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, preference }] } };
}

const ROWS: readonly (readonly [string, JsonObject, string | undefined])[] = [
  ["anything goes: the first by name", {}, "amd"],
  ["nodeSelector", { nodeSelector: { [ARCH]: "arm64" } }, "arm"],
  ["In", { affinity: requiring(term(inValues(ARCH, "arm64", "s390x"))) }, "arm"],
  ["all expressions of a term", { affinity: requiring(term(inValues(ARCH, "arm64"), EXISTS)) }, undefined],
  ["any of the terms", { affinity: requiring(term(EXISTS), term(inValues(ARCH, "arm64"))) }, "arm"],
  ["an empty term matches nothing", { affinity: requiring({}) }, undefined],
  ["a preference wins over order", { affinity: prefer(1, "arm64") }, "arm"],
];

function chosen(spec: JsonObject, nodes: readonly KubeObject[] = NODES): string | undefined {
  const verdict = chooseNode(makePod(spec), nodes, new Map());
  return verdict.kind === "bind" ? verdict.nodeName : undefined;
}

Deno.test("chooseNode() honours selectors and affinity", async (t) => {
  for (const [name, spec, expected] of ROWS) {
    await t.step(name, () => assert.equal(chosen(spec), expected));
  }
});

const TAINT = { key: "arch", value: "arm64", effect: "NoSchedule" };
const TOLERATIONS: readonly (readonly [string, JsonObject, boolean])[] = [
  ["equal", { key: "arch", value: "arm64", effect: "NoSchedule" }, true],
  ["another value", { key: "arch", value: "amd64" }, false],
];

Deno.test("chooseNode() honours taints and tolerations", async (t) => {
  const nodes = [makeNode("arm", "arm64", { spec: { taints: [TAINT] } })];
  assert.deepEqual(chooseNode(makePod(), nodes, new Map()), {
    kind: "unschedulable",
    message: "0/1 nodes are available: 1 node(s) had untolerated taint {arch: arm64}.",
  });
  for (const [name, toleration, fits] of TOLERATIONS) {
    await t.step(name, () => assert.equal(chosen({ tolerations: [toleration] }, nodes), fits ? "arm" : undefined));
  }
});
