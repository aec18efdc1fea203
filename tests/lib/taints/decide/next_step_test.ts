import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { KubeObject } from "../../../../lib/k8s/types.ts";
import { nextStep, nodeKey, type TaintStep } from "../../../../lib/taints/decide/next_step.ts";
import { toleratePatch } from "../../../../lib/taints/decide/tolerations.ts";
import { applied } from "../../placement/decide/make.ts";
import {
  type NodeSpec,
  OPTED_OUT,
  ours,
  placed,
  rawDaemonSet,
  rawNode,
  type RawPodSpec,
  rawTaintPod,
  RULE,
  survey,
  taintsOf,
} from "./make.ts";

const TOLERATES_ALL = [{ operator: "Exists" }];
const UNTOLERATED = "0/2 nodes are available: 2 node(s) had untolerated taint(s).";
const AMD = [{ key: RULE.key, operator: "Equal", value: "amd64", effect: "NoSchedule" }];

const NOT_AMD = { key: "kubernetes.io/arch", operator: "NotIn", values: ["amd64"] };

type Cluster = Parameters<typeof survey>[0];

function stepOf(cluster: Cluster, held: readonly string[] = [], goal: "taint" | "lift" = "taint"): TaintStep {
  return nextStep(survey(cluster), { goal, isHeld: (key) => held.includes(key) });
}

function told(step: TaintStep): string {
  switch (step.kind) {
    case "tolerate":
      return `tolerate ${step.needs.map(({ pod }) => pod.key).join()}`;
    case "taint":
    case "untaint":
      return `${step.kind} ${step.node}`;
    case "wait":
      return `wait ${[...step.pods.map(({ pod }) => pod.key), ...step.daemonSets].join()}`;
    case "paused":
      return `paused ${step.pods.map(({ pod }) => pod.key).join()}`;
    case "done":
      return "done";
  }
}

const [first, second] = [rawNode({ name: "a" }), rawNode({ name: "b" })];
const tainted = rawNode({ name: "t", taints: [ours("amd64")] });
const agent = rawDaemonSet("agent");
const ON_A = rawTaintPod({ node: "a" });

/** Of the table: bootstrap order, new node, drift, opt-out, DaemonSets. */
const ROWS: Readonly<Record<string, readonly (readonly [name: string, cluster: Cluster, held?: readonly string[]])[]>> =
  {
    done: [
      ["an empty cluster is done", { nodes: [] }],
      ["a node that registered with the taint is left as it is", { nodes: [tainted] }],
      ["a node that an administrator tainted by hand keeps it, whatever holds others back", {
        nodes: [tainted],
        pods: [rawTaintPod({ node: "t" })],
        daemonSets: [agent],
      }, ["team/p"]],
      ["pods of a node that opted out need nothing", {
        nodes: [rawNode({ name: "o", labels: OPTED_OUT })],
        pods: [rawTaintPod({ node: "o" })],
      }],
      ["a node with a wrong label is left alone", { nodes: [rawNode({ reported: "arm64", label: "amd64" })] }],
      ["taints and tolerations of the archaware controller are taken over without a write", {
        nodes: [tainted],
        pods: [rawTaintPod({ node: "t", tolerations: [{ key: RULE.key, value: "amd64", effect: "NoSchedule" }] })],
      }],
    ],
    "tolerate team/p": [["pods come before nodes", { nodes: [first], pods: [ON_A] }]],
    "wait team/p": [
      ["no node is tainted before a written pod tolerates", {
        nodes: [first, second],
        pods: [ON_A],
      }, ["team/p"]],
      ["before the first node a pending pod is waited for, too", { nodes: [first], pods: [rawTaintPod()] }, ["team/p"]],
    ],
    "taint a": [
      ["when all tolerate, one node is tainted", {
        nodes: [first, second],
        pods: [rawTaintPod({ node: "a", tolerations: AMD })],
      }],
      ["a new node is tainted at once", { nodes: [tainted, first] }],
      ["a pod that finds no node for other reasons pauses nothing", {
        nodes: [tainted, first],
        pods: [rawTaintPod({ says: "0/2 nodes are available: 2 Insufficient cpu." })],
      }, ["team/p"]],
      ["a pod that tolerates all it may run on pauses nothing", {
        nodes: [tainted, first],
        pods: [rawTaintPod({ says: UNTOLERATED, tolerations: TOLERATES_ALL })],
      }],
      ["a DaemonSet of other nodes does not", {
        nodes: [first],
        daemonSets: [rawDaemonSet("agent", { nodeSelector: { "kubernetes.io/arch": "arm64" } })],
      }],
      ["a DaemonSet whose template tolerates does not", {
        nodes: [first],
        daemonSets: [rawDaemonSet("agent", { tolerations: TOLERATES_ALL })],
      }],
      ["a DaemonSet whose affinity excludes the node does not", {
        nodes: [first],
        daemonSets: [rawDaemonSet("agent", placed([{ matchExpressions: [NOT_AMD] }]))],
      }],
    ],
    "taint b": [
      ["a node whose write has not shown is not written again", { nodes: [first, second] }, [nodeKey("a")]],
      ["later, a pod holds up its own node alone", { nodes: [tainted, first, second], pods: [ON_A] }, ["team/p"]],
    ],
    "wait ": [["the last write is waited for", { nodes: [first] }, [nodeKey("a")]]],
    "taint d": [["drift is repaired", { nodes: [tainted, rawNode({ name: "d", taints: [ours("arm64")] })] }]],
    "paused team/p": [
      ["a pod that lacks the toleration and finds no node pauses the tainting", {
        nodes: [tainted, first],
        pods: [rawTaintPod({ says: UNTOLERATED })],
      }, ["team/p"]],
    ],
    "tolerate team/p,team/runs": [
      ["a pod that finds no node gets its toleration before others", {
        nodes: [tainted],
        pods: [rawTaintPod({ node: "t", name: "runs" }), rawTaintPod({ says: UNTOLERATED })],
      }],
    ],
    "wait kube-system/agent": [
      ["a DaemonSet whose template lacks the toleration holds its nodes up", { nodes: [first], daemonSets: [agent] }],
    ],
    "untaint o": [
      ["a node that opted out loses its taint first", {
        nodes: [first, rawNode({ name: "o", labels: OPTED_OUT, taints: [ours("amd64")] })],
      }],
    ],
  };

for (const [ends, cases] of Object.entries(ROWS)) {
  for (const [name, cluster, held] of cases) {
    Deno.test(`nextStep(): ${name}`, () => assert.equal(told(stepOf(cluster, held)), ends));
  }
}

Deno.test("nextStep(): lifting takes the taint off node by node, and writes no pod but those that find no node, after the nodes", () => {
  const cluster = { nodes: [first, tainted], pods: [ON_A], daemonSets: [agent] };
  assert.equal(told(stepOf(cluster, [], "lift")), "untaint t");
  assert.equal(told(stepOf(cluster, [nodeKey("t")], "lift")), "wait ");
  assert.equal(told(stepOf({ ...cluster, nodes: [first] }, [], "lift")), "done");
  const shutOut = { ...cluster, pods: [rawTaintPod({ node: "t" }), rawTaintPod({ name: "waits", says: UNTOLERATED })] };
  assert.equal(told(stepOf(shutOut, [], "lift")), "untaint t");
  assert.equal(told(stepOf(shutOut, [nodeKey("t")], "lift")), "tolerate team/waits");
  assert.equal(told(stepOf(shutOut, [nodeKey("t"), "team/waits"], "lift")), "wait ");
  assert.equal(told(stepOf({ ...shutOut, nodes: [first] }, [], "lift")), "done");
  const many = Array.from({ length: 50 }, (_, at) => rawTaintPod({ name: `waits-${at}`, says: UNTOLERATED }));
  assert.equal(told(stepOf({ ...shutOut, pods: many }, [], "lift")), "untaint t", "however many find no node");
});

const architecture = fc.constantFrom("amd64", "arm64");
const toleration = fc.constantFrom(
  { operator: "Exists" },
  { key: RULE.key, operator: "Exists" },
  { key: RULE.key, value: "amd64", effect: "NoSchedule" },
  { key: RULE.key, operator: "Equal", value: "arm64", effect: "NoSchedule" },
  { key: "dedicated", operator: "Exists" },
);
const rawTaint = fc.constantFrom(ours("amd64"), ours("arm64"), ours("amd64", "NoExecute"), {
  key: "dedicated",
  effect: "NoSchedule",
});
const nodeSpec: fc.Arbitrary<NodeSpec> = fc.record({
  reported: architecture,
  labels: fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, fc.constant(OPTED_OUT)),
  taints: fc.option(fc.uniqueArray(rawTaint, { maxLength: 3 }), { nil: undefined }),
});
const podSpec: fc.Arbitrary<Pick<RawPodSpec, "tolerations"> & { readonly on: number }> = fc.record({
  tolerations: fc.option(fc.array(toleration, { maxLength: 2 }), { nil: undefined }),
  on: fc.integer({ min: -1, max: 5 }),
});
const cluster = fc.record({
  nodes: fc.array(nodeSpec, { minLength: 1, maxLength: 6 }),
  pods: fc.array(podSpec, { maxLength: 8 }),
});

/** The rule of the scheduler, written again: an independent judge. */
function canStay(pod: KubeObject, value: string): boolean {
  const { tolerations = [] } = pod["spec"] as { tolerations?: readonly Readonly<Record<string, string>>[] };
  return tolerations.some(({ key, operator = "Equal", effect, value: tolerated }) =>
    (effect === undefined || effect === "NoSchedule") &&
    (operator === "Exists" ? key === undefined || key === RULE.key : key === RULE.key && tolerated === value)
  );
}

Deno.test("nextStep(): whatever the cluster, no node is tainted while a pod of it lacks, one write a node and a pod, and it ends", () => {
  fc.assert(fc.property(cluster, (specs) => {
    let nodes = specs.nodes.map((spec, at) => rawNode({ ...spec, name: `n${at}` }));
    let pods = specs.pods.map(({ on, tolerations }, at) => {
      const node = on >= 0 && on < nodes.length ? { node: `n${on}` } : {};
      return rawTaintPod({ name: `p${at}`, tolerations, ...node });
    });
    const foreign = (all: readonly KubeObject[]): unknown =>
      all.map((node) => taintsOf(node).filter(({ key }) => key !== RULE.key));
    const before = foreign(nodes);
    const written = new Map<string, number>();
    const write = (these: readonly KubeObject[], name: string, patch: Parameters<typeof applied>[1]): KubeObject[] => {
      written.set(name, (written.get(name) ?? 0) + 1);
      return these.map((object) => object.metadata.name === name ? applied(object, patch) : object);
    };
    for (let steps = 0;; steps++) {
      assert.ok(steps <= 2 * (nodes.length + pods.length), "it does not end");
      const step = stepOf({ nodes, pods });
      if (step.kind === "done") break;
      if (step.kind === "tolerate") {
        for (const need of step.needs) pods = write(pods, need.pod.key.slice("team/".length), toleratePatch(need));
      } else if (step.kind === "taint" || step.kind === "untaint") {
        const value = specs.nodes[Number(step.node.slice(1))]?.reported ?? "";
        const here = pods.filter((pod) => Object(pod["spec"]).nodeName === step.node);
        if (step.kind === "taint") assert.ok(here.every((pod) => canStay(pod, value)), `${step.node} shuts a pod out`);
        nodes = write(nodes, step.node, step.operations);
      } else assert.fail(told(step));
    }
    assert.ok([...written.values()].every((count) => count === 1), "an object was written twice");
    assert.deepEqual(foreign(nodes), before);
    for (const [at, node] of nodes.entries()) {
      const isOff = specs.nodes[at]?.labels?.["archway.dev/arch-taint"] === "off";
      const own = taintsOf(node).filter(({ key }) => key === RULE.key);
      assert.deepEqual(own, isOff ? [] : [ours(specs.nodes[at]?.reported ?? "")]);
    }
  }));
});
