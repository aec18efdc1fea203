import assert from "node:assert/strict";
import * as fc from "fast-check";
import { judgeNode } from "../../../../lib/taints/decide/judge_node.ts";
import { parseTaintNode } from "../../../../lib/taints/decide/parse.ts";
import { applied } from "../../placement/decide/make.ts";
import { type NodeSpec, OPTED_OUT, ours, rawNode, type RawTaint, RULE, taintsOf } from "./make.ts";

const FOREIGN: RawTaint = { key: "dedicated", value: "gpu", effect: "NoSchedule" };
const OURS = ours("amd64");
const CLOUD: RawTaint = { key: "node.cloud/x", effect: "NoExecute" };

/** What the judgement is called, and the taints that its patch leads to. */
type End = readonly [judgement: string, taints: readonly RawTaint[]];

/** Of the table "Reimplementing it as a mode": key and value, which field, node writes, opt-out. */
const ROWS: readonly (readonly [name: string, node: NodeSpec, ends: End])[] = [
  ["a node without taints gets one", {}, ["missing", [OURS]]],
  ["an empty list gets one", { taints: [] }, ["missing", [OURS]]],
  ["foreign taints stay before it, in their order", { taints: [FOREIGN, CLOUD] }, ["missing", [FOREIGN, CLOUD, OURS]]],
  ["the right taint is kept", { taints: [FOREIGN, OURS] }, ["keep", [FOREIGN, OURS]]],
  ["a wrong value is mended in place", { taints: [FOREIGN, ours("arm64"), CLOUD] }, ["value", [FOREIGN, OURS, CLOUD]]],
  ["a wrong effect is mended in place", { taints: [ours("amd64", "NoExecute"), FOREIGN] }, ["effect", [OURS, FOREIGN]]],
  ["two wrong ones become one", { taints: [ours("arm64"), FOREIGN, ours("s390x", "NoExecute")] }, ["several", [
    OURS,
    FOREIGN,
  ]]],
  ["of a right and a wrong taint the right one stays where it is", {
    taints: [ours("amd64", "PreferNoSchedule"), FOREIGN, OURS, ours("arm64", "NoExecute"), CLOUD],
  }, ["several", [FOREIGN, OURS, CLOUD]]],
  ["a node that opted out loses its taint alone", { labels: OPTED_OUT, taints: [FOREIGN, OURS] }, [
    "optedOut",
    [FOREIGN],
  ]],
  ["a node that opted out with none is left alone", { labels: OPTED_OUT, taints: [FOREIGN] }, ["optedOut", [FOREIGN]]],
  ["kubelet and label disagree", { reported: "arm64", label: "amd64", taints: [FOREIGN] }, ["disagreement", [FOREIGN]]],
  ["without the label the kubelet counts", { reported: "arm64", label: undefined }, ["missing", [ours("arm64")]]],
  ["a kubelet that has not reported yet: nothing is written", { reported: "", label: "amd64" }, ["unknown", []]],
];

function judged(spec: NodeSpec): End {
  const raw = rawNode(spec);
  const judgement = judgeNode(parseTaintNode(raw), RULE);
  const operations = "operations" in judgement ? judgement.operations : [];
  return [judgement.kind === "patch" ? judgement.repair : judgement.kind, taintsOf(applied(raw, operations))];
}

for (const [name, node, ends] of ROWS) {
  Deno.test(`judgeNode(): ${name}`, () => assert.deepEqual(judged(node), ends));
}

Deno.test("judgeNode(): the patch does not apply to a node whose taints another has changed meanwhile", () => {
  for (const taints of [undefined, [FOREIGN], [ours("arm64"), FOREIGN]]) {
    const judgement = judgeNode(parseTaintNode(rawNode({ taints })), RULE);
    assert.equal(judgement.kind, "patch");
    const changed = rawNode({ taints: [CLOUD, ...taints ?? []] });
    const meanwhile = { ...changed, metadata: { ...changed.metadata, resourceVersion: "6" } };
    assert.throws(() => applied(meanwhile, judgement.kind === "patch" ? judgement.operations : []), /[Tt]est/);
  }
});

const taint: fc.Arbitrary<RawTaint> = fc.tuple(
  fc.constantFrom("supported-arch", "dedicated", "example.com/x"),
  fc.constantFrom("amd64", "arm64", ""),
  fc.constantFrom("NoSchedule", "NoExecute", "PreferNoSchedule"),
).map(([key, value, effect]) => ({ key, value, effect }));
const node: fc.Arbitrary<NodeSpec> = fc.record({
  reported: fc.constantFrom("amd64", "arm64", ""),
  label: fc.constantFrom("amd64", "arm64", undefined),
  labels: fc.constantFrom({}, OPTED_OUT),
  taints: fc.option(fc.array(taint, { maxLength: 6 }), { nil: undefined }),
});

Deno.test("judgeNode(): whatever the taints, foreign ones and their order stay, and one patch is enough", () => {
  fc.assert(fc.property(node, (spec) => {
    const raw = rawNode(spec);
    const judgement = judgeNode(parseTaintNode(raw), RULE);
    const after = applied(raw, "operations" in judgement ? judgement.operations : []);
    const isForeign = ({ key }: RawTaint): boolean => key !== RULE.key;
    assert.deepEqual(taintsOf(after).filter(isForeign), taintsOf(raw).filter(isForeign));
    const again = judgeNode(parseTaintNode(after), RULE);
    if (judgement.kind === "patch") {
      assert.equal(again.kind, "keep");
      assert.deepEqual(taintsOf(after).filter((one) => !isForeign(one)), [ours(spec.reported ?? "")]);
    } else assert.equal(again.kind, judgement.kind);
    assert.ok(again.kind !== "optedOut" || again.operations.length === 0);
  }));
});
