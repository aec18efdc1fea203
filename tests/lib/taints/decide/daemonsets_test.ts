import assert from "node:assert/strict";
import { ObjectCache } from "../../../../lib/k8s/object_cache.ts";
import { keyOf, type KubeObject } from "../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { DAEMON_SET_RETENTION } from "../../../../lib/taints/cluster/watches.ts";
import { isShutOutDaemonSet, surveyOf, type TaintSurvey, withJudgement } from "../../../../lib/taints/decide/survey.ts";
import { nextStep } from "../../../../lib/taints/decide/next_step.ts";
import type { JudgedDaemonSet, TaintDaemonSet } from "../../../../lib/taints/decide/types.ts";
import type { ArchTaint } from "../../../../lib/vocabulary/taint.ts";
import { parseTaintDaemonSet, parseTaintNode } from "../../../../lib/taints/decide/parse.ts";
import { progressOf } from "../../../../lib/taints/decide/progress.ts";
import { countSteps } from "../../placement/decide/count_steps.ts";
import { ours, placed, rawDaemonSet, rawNode, RULE, survey } from "./make.ts";

type Json = Readonly<Record<string, unknown>>;

const texts = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `node-${at}`);

function affine(values: readonly (readonly string[])[], operator = "NotIn"): Json {
  return placed(values.map((each) => ({
    matchExpressions: [{ key: "kubernetes.io/hostname", operator, values: each }],
  })));
}

function judged(spec: Json, rule: ArchTaint = RULE): JudgedDaemonSet {
  const daemonSet = parseTaintDaemonSet(rawDaemonSet("agent", spec), rule);
  assert.equal(daemonSet?.kind, "judged");
  return daemonSet;
}

const TOO_LARGE: readonly (readonly [what: string, spec: Json])[] = [
  ["an affinity of 150 000 values", affine([texts(150_000)])],
  ["150 000 terms", affine(texts(150_000).map((text) => [text]))],
  ["33 terms", affine(texts(33).map((text) => [text]))],
  ["100 000 tolerations", { tolerations: texts(100_000).map((key) => ({ key, operator: "Exists" })) }],
  ["100 000 labels of nodes", { nodeSelector: Object.fromEntries(texts(100_000).map((key) => [key, ""])) }],
  ["64 labels of nodes", { nodeSelector: Object.fromEntries(texts(64).map((key) => [key, ""])) }],
  ["a value of 1.4 MB", affine([["x".repeat(1_400_000)]])],
];

for (const [what, spec] of TOO_LARGE) {
  Deno.test(`parseTaintDaemonSet() keeps nothing of ${what}`, () => {
    const daemonSet = parseTaintDaemonSet(rawDaemonSet("huge", spec), RULE);
    assert.deepEqual(daemonSet, { kind: "oversized", key: "kube-system/huge" });
  });
}

Deno.test("isShutOutDaemonSet() takes no more steps for the names of a thousand nodes than for one", () => {
  const node = parseTaintNode(rawNode({ labels: { "kubernetes.io/hostname": "other" } }));
  const [few, many] = [1, 1_000].map((count) => {
    const daemonSet = judged(affine([texts(count)]));
    assert.equal(isShutOutDaemonSet(daemonSet, { node, rule: RULE }), true);
    return countSteps(() => isShutOutDaemonSet(daemonSet, { node, rule: RULE }));
  });
  assert.equal(many, few);
});

const KEPT:
  readonly (readonly [what: string, tolerations: readonly Json[], tolerated: readonly string[] | undefined])[] = [
    ["every taint", [{ operator: "Exists" }], undefined],
    ["our key", [{ key: RULE.key, operator: "Exists", effect: "NoSchedule" }], undefined],
    ["our key with another effect", [{ key: RULE.key, operator: "Exists", effect: "NoExecute" }], []],
    ["other keys", texts(500).map((key) => ({ key, operator: "Exists" })), []],
    ["one architecture", [{ key: RULE.key, value: "arm64" }, { key: "dedicated", value: "amd64" }], ["arm64"]],
  ];

for (const [what, tolerations, tolerated] of KEPT) {
  Deno.test(`parseTaintDaemonSet() of one that tolerates ${what} keeps ${tolerated?.join() ?? "nothing"} of it`, () => {
    const daemonSet = parseTaintDaemonSet(rawDaemonSet("agent", { tolerations }), RULE);
    assert.deepEqual(daemonSet?.kind === "judged" ? [...daemonSet.tolerated] : daemonSet, tolerated);
  });
}

Deno.test("parseTaintDaemonSet() does not take a toleration that ends for one of NoExecute", () => {
  const tolerations = [{ key: RULE.key, operator: "Exists", tolerationSeconds: 60 }];
  assert.deepEqual([...judged({ tolerations }, { ...RULE, effect: "NoExecute" }).tolerated], []);
  assert.equal(parseTaintDaemonSet(rawDaemonSet("agent", { tolerations }), RULE), undefined);
});

const OPERATORS: readonly (readonly [expression: Json, wants: string])[] = [
  [{ key: "zone", operator: "In", values: ["a", "b"] }, "a"],
  [{ key: "zone", operator: "NotIn", values: ["a", "b"] }, "c none"],
  [{ key: "zone", operator: "Exists" }, "a c"],
  [{ key: "zone", operator: "DoesNotExist" }, "none"],
  [{ key: "zone", operator: "Gt", values: ["1"] }, "a c none"],
];

for (const [expression, wants] of OPERATORS) {
  Deno.test(`isShutOutDaemonSet(): ${expression["operator"]} of an affinity wants ${wants}`, () => {
    const daemonSet = judged(placed([{ matchExpressions: [expression] }]));
    const nodes = [{ zone: "a" }, { zone: "c" }, {}].map((labels) => parseTaintNode(rawNode({ labels })));
    const wanted = nodes.filter((node) => isShutOutDaemonSet(daemonSet, { node, rule: RULE }));
    assert.equal(wanted.map(({ labels }) => labels["zone"] ?? "none").join(" "), wants);
  });
}

Deno.test("progressOf() names the DaemonSets that are too large, and the next node is tainted all the same", () => {
  const huge = ["e", "b", "d", "a", "c"].map((name) => rawDaemonSet(name, affine([texts(150_000)])));
  const seen = survey({ nodes: [rawNode()], daemonSets: huge });
  const step = nextStep(seen, { goal: "taint", isHeld: () => false });
  assert.equal(step.kind, "taint");
  const { message } = progressOf(seen, { step, phase: "Tainting", refusals: new Map() });
  assert.match(message, /not looked at.*: kube-system\/a, kube-system\/b, kube-system\/c and 2 more\.$/);
});

/** Names every node by itself and excludes none: nodes that differ only in their names are not alike. */
const HOSTILE = affine(texts(20).map((text) => [text, "x"]), "In");

function inNamespace(namespace: string, name: string, spec: Json = HOSTILE): KubeObject {
  const object = rawDaemonSet(name, spec);
  return { ...object, metadata: { ...object.metadata, namespace } };
}

function openCache(): ObjectCache<TaintDaemonSet> {
  const parse = (object: KubeObject): TaintDaemonSet | undefined => parseTaintDaemonSet(object, RULE);
  return new ObjectCache({ parse, onChange: () => {}, retain: DAEMON_SET_RETENTION, log: silentLogger });
}

/** What is kept of DaemonSets that come one after the other. */
function kept(objects: readonly KubeObject[]): readonly TaintDaemonSet[] {
  const cache = openCache();
  for (const object of objects) cache.apply(object);
  return [...cache.values()];
}

function clusterOf(nodes: number, daemonSets: readonly TaintDaemonSet[]): TaintSurvey {
  const raw = texts(nodes).map((name, at) =>
    rawNode({
      name,
      labels: { "kubernetes.io/hostname": `n${at}` },
      ...at % 2 === 0 ? {} : { taints: [ours("amd64")] },
    })
  );
  const views = new Map(raw.map((node) => [node.metadata.name, withJudgement(parseTaintNode(node), RULE)]));
  return surveyOf(RULE, { nodes: views, pods: [], daemonSets });
}

/** Steps of one check in a cluster where no node can be tainted yet. */
function stepsOf(seen: TaintSurvey): number {
  return countSteps(() => {
    const step = nextStep(seen, { goal: "taint", isHeld: () => true });
    progressOf(seen, { step, phase: "Waiting", refusals: new Map() });
  });
}

Deno.test("the steps that a node costs do not follow how many DaemonSets one namespace has", () => {
  const ofNode = (count: number): number => {
    const daemonSets = kept(texts(count).map((name) => inNamespace("team", name)));
    return stepsOf(clusterOf(40, daemonSets)) - stepsOf(clusterOf(20, daemonSets));
  };
  const [few, many] = [ofNode(50), ofNode(800)];
  assert.ok(few > 0);
  assert.equal(many, few);
});

Deno.test("the steps of one check have a bound, however many nodes and namespaces there are", () => {
  const team = (at: number): readonly KubeObject[] => texts(12).map((name) => inNamespace(`team-${at}`, name));
  const hostile = Array.from({ length: 40 }, (_, at) => team(at)).flat();
  const daemonSets = kept([...hostile, inNamespace("zoo", "agent", { nodeSelector: { os: "linux" } })]);
  const seen = clusterOf(4_000, daemonSets);
  const weight = seen.daemonSets.reduce((sum, each) => sum + each.weight, 0);
  assert.ok(weight > 900 && weight <= 1_000, `the weight is ${weight}`);
  assert.equal(seen.daemonSets.length + seen.oversized.length, daemonSets.length);
  assert.ok(seen.daemonSets.some(({ key }) => key === "zoo/agent"), "others do not displace it");
  // Some steps are those of the counter itself.
  assert.ok(stepsOf(seen) <= 2 * 4_000_000);
});

Deno.test("DAEMON_SET_RETENTION: a namespace has its own share, all have one, and what leaves or shrinks makes room", () => {
  const cache = openCache();
  const kindOf = (object: KubeObject): string | undefined => {
    cache.apply(object);
    return cache.get(keyOf(object))?.kind;
  };
  for (const name of texts(12)) assert.equal(kindOf(inNamespace("team", name)), "judged", name);
  const next = inNamespace("team", "next");
  assert.equal(kindOf(next), "oversized");
  assert.equal(kindOf(inNamespace("other", "next")), "judged");
  assert.equal(kindOf(inNamespace("team", "node-0")), "judged", "its own weight does not count twice");
  assert.equal(kindOf(inNamespace("team", "node-0", {})), "judged");
  assert.equal(kindOf(next), "judged");
  assert.equal(kindOf(inNamespace("team", "node-0")), "oversized");
  cache.delete(next);
  assert.equal(kindOf(inNamespace("team", "node-0")), "judged");
  for (const at of texts(20)) for (const name of texts(12)) cache.apply(inNamespace(at, name));
  const weight = [...cache.values()].reduce((sum, each) => sum + (each.kind === "judged" ? each.weight : 0), 0);
  assert.ok(weight > 4_000 && weight <= 4_096, `the weight is ${weight}`);
});
