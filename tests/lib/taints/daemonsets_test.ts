// DaemonSets whose template says too much about where its pods go: judging them would cost more with every node.
import assert from "node:assert/strict";
import { isShutOutDaemonSet } from "../../../lib/taints/survey.ts";
import { nextStep } from "../../../lib/taints/next_step.ts";
import { parseTaintDaemonSet, parseTaintNode } from "../../../lib/taints/views.ts";
import { progressOf } from "../../../lib/taints/progress.ts";
import { rawDaemonSet, rawNode, RULE, survey } from "./make.ts";

const texts = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `node-${at}`);

function affine(values: readonly (readonly string[])[]): Readonly<Record<string, unknown>> {
  const nodeSelectorTerms = values.map((each) => ({
    matchExpressions: [{ key: "kubernetes.io/hostname", operator: "NotIn", values: each }],
  }));
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}

const TOO_LARGE: readonly (readonly [what: string, spec: Readonly<Record<string, unknown>>])[] = [
  ["an affinity of 150 000 values", affine([texts(150_000)])],
  ["150 000 terms", affine(texts(150_000).map((text) => [text]))],
  ["100 000 tolerations", { tolerations: texts(100_000).map((key) => ({ key, operator: "Exists" })) }],
  ["100 000 labels of nodes", { nodeSelector: Object.fromEntries(texts(100_000).map((key) => [key, ""])) }],
  ["a value of 1.4 MB", affine([["x".repeat(1_400_000)]])],
];

for (const [what, spec] of TOO_LARGE) {
  Deno.test(`parseTaintDaemonSet() keeps nothing of ${what}, and the DaemonSet holds no node back`, () => {
    const daemonSet = parseTaintDaemonSet(rawDaemonSet("huge", spec));
    assert.deepEqual(daemonSet, {
      ...{ key: "kube-system/huge", tolerations: [], nodeSelector: {}, terms: undefined },
      isOversized: true,
    });
    assert.ok(daemonSet !== undefined);
    assert.equal(isShutOutDaemonSet(daemonSet, { node: parseTaintNode(rawNode()), rule: RULE }), false);
  });
}

Deno.test("parseTaintDaemonSet() keeps the names of a thousand nodes", () => {
  const daemonSet = parseTaintDaemonSet(rawDaemonSet("large", affine([texts(1_000)])));
  assert.equal(daemonSet?.isOversized, false);
  assert.equal(daemonSet.terms?.length, 1);
  assert.equal(isShutOutDaemonSet(daemonSet, { node: parseTaintNode(rawNode()), rule: RULE }), true);
});

Deno.test("progressOf() names the DaemonSets that are too large, and the next node is tainted all the same", () => {
  const seen = survey({ nodes: [rawNode()], daemonSets: [rawDaemonSet("huge", affine([texts(150_000)]))] });
  const step = nextStep(seen, { goal: "taint", isHeld: () => false });
  assert.equal(step.kind, "taint");
  const { message } = progressOf(seen, { step, phase: "Tainting", refusals: new Map() });
  assert.match(message, /not looked at.*: kube-system\/huge\.$/);
});
