import assert from "node:assert/strict";
import { needOf, toleratePatch } from "../../../../lib/taints/decide/tolerations.ts";
import { parseTaintPod } from "../../../../lib/taints/decide/parse.ts";
import { applied } from "../../placement/decide/make.ts";
import { type RawPodSpec, rawTaintPod, RULE } from "./make.ts";

const KEY = RULE.key;
const KNOWN = ["amd64", "arm64", "ppc64le", "s390x"];
const NODES: Readonly<Record<string, string>> = { a: "amd64", r: "arm64" };

function lacking(spec: RawPodSpec, { effect = RULE.effect, architectures = ["amd64", "arm64"] } = {}): string {
  const pod = parseTaintPod(rawTaintPod(spec), RULE);
  if (pod === undefined) return "not looked at";
  const rule = { key: KEY, effect };
  const need = needOf(pod, { rule, architectures, architectureOf: (node) => NODES[node] });
  return need?.missing.map(({ value }) => value).join() ?? "";
}

const record = (decision: string, architectures: readonly string[]): RawPodSpec["annotations"] & object => ({
  "archway.dev/decision": JSON.stringify({ v: 1, d: decision, a: architectures, i: [] }),
});

/** Tolerations of a pod on an amd64 node, and whether they count as its toleration already. */
const FORMS: readonly (readonly [name: string, toleration: Readonly<Record<string, unknown>>, covers: boolean])[] = [
  ["Equal", { key: KEY, operator: "Equal", value: "amd64", effect: "NoSchedule" }, true],
  ["no operator, as the archaware controller writes it", { key: KEY, value: "amd64", effect: "NoSchedule" }, true],
  ["Exists with the key", { key: KEY, operator: "Exists", effect: "NoSchedule" }, true],
  ["Exists with the key, every effect", { key: KEY, operator: "Exists" }, true],
  ["Exists without key", { operator: "Exists" }, true],
  ["Exists without key, this effect", { operator: "Exists", effect: "NoSchedule" }, true],
  ["Equal, every effect", { key: KEY, operator: "Equal", value: "amd64" }, true],
  ["another value", { key: KEY, operator: "Equal", value: "arm64", effect: "NoSchedule" }, false],
  ["another key", { key: "kubernetes.io/arch", operator: "Exists" }, false],
  ["another effect", { key: KEY, operator: "Exists", effect: "NoExecute" }, false],
  ["Equal, another effect", { key: KEY, value: "amd64", effect: "NoExecute" }, false],
  ["Equal without key", { operator: "Equal", value: "amd64" }, false],
  ["Exists without key, another effect", { operator: "Exists", effect: "NoExecute" }, false],
  ["an operator that compares numbers", { key: KEY, operator: "Gt", value: "amd64", effect: "NoSchedule" }, false],
];

for (const [name, toleration, covers] of FORMS) {
  Deno.test(`needOf(): a toleration with ${name} ${covers ? "is" : "is not"} the toleration of its node`, () => {
    assert.equal(lacking({ node: "a", tolerations: [toleration] }), covers ? "" : "amd64");
  });
}

Deno.test("needOf(): a toleration for a time does not keep a pod where the effect evicts", () => {
  const tolerations = [{ key: KEY, operator: "Exists", tolerationSeconds: 300 }];
  assert.equal(lacking({ node: "a", tolerations }, { effect: "NoExecute" }), "amd64");
  assert.equal(lacking({ node: "a", tolerations }), "");
});

const PODS: readonly (readonly [name: string, pod: RawPodSpec, missing: string])[] = [
  ["a running pod lacks that of its node alone", { node: "r" }, "arm64"],
  ["a pod on a node that is not known waits", { node: "unknown" }, ""],
  ["a pending pod about which nothing is decided lacks all", {}, KNOWN.join()],
  ["a pending pod lacks those that were decided", { annotations: record("place", ["amd64", "arm64"]) }, "amd64,arm64"],
  ["a pod that fell back lacks its architecture", { annotations: record("fallback", ["arm64"]) }, "arm64"],
  ["a pod whose images share no architecture lacks none", { annotations: record("nowhere", []) }, ""],
  ["a pod that was released without a decision lacks all", { annotations: record("release", []) }, KNOWN.join()],
  [
    "a pending pod whose tolerations somebody chose by value keeps them",
    { tolerations: [{ key: KEY, value: "arm64", effect: "NoSchedule" }] },
    "",
  ],
  ["a finished pod is not looked at", { node: "a", phase: "Succeeded" }, "not looked at"],
  ["a failed pod is not looked at", { node: "a", phase: "Failed" }, "not looked at"],
  ["a pod that is being deleted is not looked at", { node: "a", deleting: true }, "not looked at"],
  ["a static pod is not looked at", { node: "a", owner: "Node" }, "not looked at"],
  ["a gated pod is not looked at", { gates: ["multiarch.openshift.io/scheduling-gate"] }, "not looked at"],
  ["a pod that others hold is", { gates: ["example.com/quota"] }, KNOWN.join()],
];

for (const [name, pod, missing] of PODS) {
  Deno.test(`needOf(): ${name}`, () => assert.equal(lacking(pod), missing));
}

Deno.test("Q-09 needOf(): a pod that tolerates only an architecture beyond the known four, which its images have, keeps that", () => {
  const tolerations = [{ key: KEY, operator: "Equal", value: "riscv64", effect: "NoSchedule" }];
  assert.equal(lacking({ tolerations }, { architectures: ["amd64", "riscv64"] }), "");
});

Deno.test("needOf(): a node of an architecture beyond the known four counts for pods about which nothing is decided", () => {
  const architectures = ["amd64", "riscv64"];
  assert.equal(lacking({}, { architectures }), [...KNOWN.slice(0, 3), "riscv64", "s390x"].join());
  const tolerations = KNOWN.map((value) => ({ key: KEY, operator: "Equal", value, effect: "NoSchedule" }));
  assert.equal(lacking({ tolerations }, { architectures }), "riscv64");
});

Deno.test("toleratePatch(): appends behind the tolerations of others, with the operator spelled out", () => {
  const others = [{ key: "x", operator: "Exists" }];
  for (const tolerations of [others, undefined]) {
    const raw = rawTaintPod({ node: "r", tolerations });
    const pod = parseTaintPod(raw, RULE);
    assert.ok(pod !== undefined);
    const surroundings = { rule: RULE, architectures: [], architectureOf: (node: string) => NODES[node] };
    const need = needOf(pod, surroundings);
    assert.ok(need !== undefined);
    const after = applied(raw, toleratePatch(need));
    const ours = { key: KEY, operator: "Equal", value: "arm64", effect: "NoSchedule" };
    assert.deepEqual(Object(after["spec"]).tolerations, [...tolerations ?? [], ours]);
    const again = parseTaintPod(after, RULE);
    assert.ok(again !== undefined && needOf(again, surroundings) === undefined);
  }
});

Deno.test("needOf(): a decision that the pod's owner wrote asks for nothing that the API server would refuse", () => {
  const annotations = record("place", ["amd64", "no label!", "", "unknown", "x".repeat(64), "amd64"]);
  assert.equal(lacking({ annotations }), "amd64");
});

Deno.test("needOf(): a decision that the pod's owner wrote asks for architectures that are known or that nodes have, and no others", () => {
  const made = Array.from({ length: 300 }, (_, at) => `arch${at}`);
  const annotations = record("place", ["arm64", "riscv64", ...made]);
  assert.equal(lacking({ annotations }), "arm64");
  assert.equal(lacking({ annotations }, { architectures: ["amd64", "riscv64"] }), "arm64,riscv64");
});

Deno.test("parseTaintPod() keeps of a pod's tolerations those that may be of the taint, and leaves one with more than a hundred alone", () => {
  const others = Array.from({ length: 20_000 }, (_, at) => ({ key: `k${at}`, operator: "Exists" }));
  const pod = parseTaintPod(rawTaintPod({ node: "a", tolerations: [...others, { operator: "Exists" }] }), RULE);
  assert.equal(pod?.tolerations?.length, 1);
  const own = Array.from({ length: 101 }, (_, at) => ({ key: KEY, value: `v${at}` }));
  assert.equal(lacking({ node: "a", tolerations: own }), "not looked at");
  assert.equal(lacking({ node: "a", tolerations: own.slice(1) }), "amd64");
});
