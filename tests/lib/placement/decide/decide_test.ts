import assert from "node:assert/strict";
import { SCHEDULING_GATE } from "../../../../lib/names.ts";
import { planInspection } from "../../../../lib/placement/decide/plan_inspection.ts";
import { AMD64, ARCH, ARM64, at, type Json, make, mark, running, S390X, settle } from "./make.ts";

const SCORING = make.configs(make.clusterConfig({ platforms: [make.platform(ARM64, 50)] }));
const PREFER_ARM64 = make.preferredTerm(50, ARCH, ARM64);
const BROKEN = running("broken");
const GIVEN_UP = { gateAgeMs: 60_000, failedAttempts: 6 };
const FALLING_BACK = { configs: make.configs(make.clusterConfig({ fallback: AMD64 })), ...GIVEN_UP };
const PERMANENT = [make.failedImage("broken", { kind: "permanent", reason: "ManifestUnknown", registry: "quay.io" })];
const COUNT = "image-inspect-error-count";
/** Preferences were set, and nothing is required. */
const PREFERRED_ONLY = { "scheduling-gate": "removed", "node-affinity": "not-set", "preferred-node-affinity": "set" };
const NAS_LABEL = { labels: { [mark("preferred-node-affinity")]: "not-set" } };

Deno.test("DV-40 matrix: success with no architecture in common is labelled so", () => {
  const { decision, marks, gates } = settle(make.gatedPod(running("single-amd64", "single-arm64")));
  assert.equal(decision.kind, "nowhere");
  assert.deepEqual(marks, { "scheduling-gate": "removed", "node-affinity": "set", "no-supported-arch": "" });
  assert.deepEqual(gates, []);
});

function preferring(weight: number, architecture: string): Json {
  const preferred = [make.preferredTerm(weight, ARCH, architecture)];
  return make.gatedPod({ affinity: make.nodeAffinity(undefined, preferred) }, NAS_LABEL);
}

Deno.test("PR-15 matrix: a user's architecture preference silences the configs", () => {
  const { marks, annotations, preferred } = settle(preferring(10, ARM64), { configs: SCORING });
  assert.deepEqual(preferred, [make.preferredTerm(10, ARCH, ARM64)]);
  assert.equal(marks["preferred-node-affinity"], "not-set");
  assert.equal(marks["node-affinity"], "set");
  assert.equal(annotations[mark("preferred-affinity-sources")], "arm64:50:ClusterPodPlacementConfig:skipped");
});

Deno.test("PR-20 matrix: a user's architecture preference silences namespace configs too, and is labelled so", () => {
  const own = [
    make.namespaceConfig("a", { platforms: [make.platform(ARM64, 30)] }),
    make.namespaceConfig("b", { platforms: [make.platform(AMD64, 60)] }),
  ];
  const { marks, preferred } = settle(preferring(20, AMD64), { configs: make.configs(SCORING.cluster, ...own) });
  assert.deepEqual(preferred, [make.preferredTerm(20, ARCH, AMD64)]);
  assert.equal(marks["preferred-node-affinity"], "not-set");
});

Deno.test("DV-34 matrix: a required architecture of the user gets preferences only, without inspection", () => {
  const raw = make.gatedPod({ nodeSelector: { [ARCH]: AMD64 } }, NAS_LABEL);
  assert.equal(planInspection(make.view(raw), SCORING, make.settings()).kind, "decided");
  const { marks, required, preferred } = settle(raw, { configs: SCORING, images: [] });
  assert.deepEqual(marks, PREFERRED_ONLY);
  assert.equal(required, undefined);
  assert.deepEqual(preferred, [PREFER_ARM64]);
});

Deno.test("DV-33 matrix: gated, then ignorable: released unchanged", () => {
  const raw = make.gatedPod({ nodeSelector: { [ARCH]: AMD64 } });
  const { decision, after, marks, annotations } = settle(raw);
  assert.deepEqual(decision, { kind: "ignore", reason: "AlreadyConstrained" });
  assert.deepEqual(marks, { "scheduling-gate": "removed", "node-affinity": "not-set" });
  assert.equal(at(after, "spec", "affinity"), undefined);
  assert.deepEqual(annotations, {});
});

Deno.test("PR-16 matrix: given up without fallback", () => {
  const raw = make.gatedPod(BROKEN, NAS_LABEL);
  const { decision, marks, gates, required } = settle(raw, { configs: SCORING, ...GIVEN_UP });
  assert.equal(decision.kind, "release");
  assert.deepEqual(gates, []);
  assert.deepEqual(marks, { ...PREFERRED_ONLY, "image-inspect-error": "", [COUNT]: "5" });
  assert.equal(required, undefined);
});

Deno.test("PR-04 matrix: given up with a fallback", () => {
  const { decision, marks, required } = settle(make.gatedPod(BROKEN), FALLING_BACK);
  assert.equal(decision.kind, "fallback");
  assert.deepEqual(marks, {
    "scheduling-gate": "removed",
    "node-affinity": "set",
    "fallback-arch": AMD64,
    "image-inspect-error": "",
    [COUNT]: "5",
  });
  assert.deepEqual(required, [make.term([ARCH, AMD64])]);
});

Deno.test("DV-45 matrix: success after failures keeps count and annotation, drops the error label, repeats no preference", () => {
  const failed = settle(make.gatedPod(BROKEN), { configs: SCORING });
  const audit = failed.annotations[mark("preferred-affinity-sources")];
  const images = [{ ...make.image("multi"), image: "broken" }];
  const { marks, annotations, preferred } = settle(failed.after, { configs: SCORING, failedAttempts: 1, images });
  assert.equal(marks[COUNT], "1");
  assert.ok(!("image-inspect-error" in marks));
  assert.ok(mark("image-inspect-error") in annotations);
  assert.deepEqual(preferred, [PREFER_ARM64]);
  assert.equal(annotations[mark("preferred-affinity-sources")], audit);
  assert.equal(marks["preferred-node-affinity"], "set");
});

Deno.test("DV-30 decide() leaves a pod without our gate alone", () => {
  const { decision, after } = settle(make.pod());
  assert.deepEqual(decision, { kind: "ignore", reason: "NotGated" });
  assert.deepEqual(after, make.pod());
});

Deno.test("DV-31 decide() processes a gated pod whatever the namespace selector says", () => {
  const { decision } = settle(make.gatedPod({}, { namespace: "excluded" }));
  assert.equal(decision.kind, "place");
});

for (const [namespace, reason] of [["kube-system", "KubeNamespace"], ["archway", "OperatorNamespace"]] as const) {
  Deno.test(`DV-32 decide() only ungates a pod in ${namespace}`, () => {
    const { decision, marks, gates } = settle(make.gatedPod({}, { namespace }));
    assert.deepEqual(decision, { kind: "ignore", reason });
    assert.equal(marks["scheduling-gate"], "removed");
    assert.deepEqual(gates, []);
  });
}

Deno.test("DV-35 decide() keeps foreign gates", () => {
  const raw = make.gatedPod({ schedulingGates: [{ name: "a" }, { name: SCHEDULING_GATE }, { name: "b" }] });
  const { gates, required } = settle(raw);
  assert.deepEqual(gates, ["a", "b"]);
  assert.deepEqual(required, [make.term([ARCH, AMD64, ARM64])]);
});

Deno.test("DV-39 decide() requires unknown architectures but labels only known ones", () => {
  const { marks, required } = settle(make.gatedPod(running("exotic")));
  assert.deepEqual(required, [make.term([ARCH, AMD64, "riscv64"])]);
  assert.deepEqual(marks, { "scheduling-gate": "removed", "node-affinity": "set", "multi-arch": "", amd64: "" });
});

const COUNTS = [
  [
    "DV-46 (different: a seed is stripped at admission, the deadline counts) decide() retries a pod with count 4",
    "4",
    "4",
  ],
  ["DV-47 decide() restarts the count where the label is no number", "abc", "1"],
  ["DV-49 decide() goes on counting from the label after a restart", "2", "3"],
] as const;

for (const [title, before, after] of COUNTS) {
  Deno.test(title, () => {
    const { decision, marks } = settle(make.gatedPod(BROKEN, { labels: { [mark(COUNT)]: before } }));
    assert.deepEqual([decision.kind, marks[COUNT]], ["retry", after]);
  });
}

Deno.test("DV-48 decide() keeps the pod gated with count 4 after many failures inside the deadline", () => {
  const { marks, gates } = settle(make.gatedPod(BROKEN), { failedAttempts: 3, gateAgeMs: 5_000 });
  assert.equal(marks[COUNT], "4");
  assert.equal(marks["scheduling-gate"], "gated");
  assert.deepEqual(gates, [SCHEDULING_GATE]);
});

Deno.test("DV-50 decide() cuts the error annotation to 256 code points", () => {
  const message = "🐳".repeat(400);
  const images = [make.failedImage("broken", { kind: "transient", reason: "ServerError", message })];
  const { annotations } = settle(make.gatedPod(BROKEN), { images });
  assert.equal([...String(annotations[mark("image-inspect-error")])].length, 256);
});

Deno.test("DV-51 decide() has no fallback when no cluster config is loaded", () => {
  assert.equal(settle(make.gatedPod(BROKEN), GIVEN_UP).decision.kind, "release");
});

Deno.test("DV-52 decide() adds the fallback only to terms without an architecture", () => {
  const affinity = make.nodeAffinity([make.term([ARCH, ARM64]), make.term(["foo", "bar"])]);
  const { required } = settle(make.gatedPod({ ...BROKEN, affinity }), FALLING_BACK);
  assert.deepEqual(required, [make.term([ARCH, ARM64]), make.term(["foo", "bar"], [ARCH, AMD64])]);
});

Deno.test("DV-65 decide() places without preferences and fallback when the cluster config went away", () => {
  const { marks, preferred } = settle(make.gatedPod({}, NAS_LABEL));
  assert.equal(preferred, undefined);
  assert.ok(!("preferred-node-affinity" in marks));
  assert.equal(settle(make.gatedPod(BROKEN), GIVEN_UP).decision.kind, "release");
});

Deno.test("PR-03 decide() confirms a permanent failure once after a second, then gives up", () => {
  const first = settle(make.gatedPod(BROKEN), { images: PERMANENT });
  assert.equal(first.decision.kind === "retry" && first.decision.afterMs, 1_000);
  const second = settle(first.after, { images: PERMANENT, failedAttempts: 1, gateAgeMs: 1_200 });
  assert.equal(second.decision.kind, "release");
  assert.equal(second.marks[COUNT], "5");
});

Deno.test("decide() leaves a pod that is being deleted alone", () => {
  const raw = make.gatedPod({}, { deletionTimestamp: "2026-01-01T00:00:00Z" });
  const { decision, gates } = settle(raw);
  assert.deepEqual(decision, { kind: "ignore", reason: "Deleting" });
  assert.deepEqual(gates, [SCHEDULING_GATE]);
});

Deno.test("decide() only ungates in audit mode", () => {
  const { decision, after, gates } = settle(make.gatedPod(), { settings: make.settings({ audit: true }) });
  assert.deepEqual(decision, { kind: "ignore", reason: "AuditMode" });
  assert.equal(at(after, "spec", "affinity"), undefined);
  assert.deepEqual(gates, []);
});

Deno.test("decide() keeps to the architectures that the cluster offers, and reports when it offers none", () => {
  const offered = settle(make.gatedPod(), { liveArchitectures: [AMD64, S390X] });
  assert.deepEqual(offered.required, [make.term([ARCH, AMD64])]);
  const none = settle(make.gatedPod(), { liveArchitectures: [S390X] });
  assert.deepEqual(none.required, [make.term([ARCH, AMD64, ARM64])]);
  assert.equal(none.decision.kind === "place" && none.decision.isOutOfReach, true);
});

Deno.test("decide() narrows its own earlier requirement when a container came late", () => {
  const record = '{"v":1,"d":"place","a":["amd64","arm64"],"i":[["multi","",["amd64","arm64"],"cache"]]}';
  const spec = { ...running("multi", "single-arm64"), affinity: make.nodeAffinity([make.term([ARCH, AMD64, ARM64])]) };
  const raw = make.gatedPod(spec, { annotations: { "archway.dev/decision": record } });
  assert.equal(planInspection(make.view(raw), make.configs(), make.settings()).kind, "inspect");
  const { gates, required } = settle(raw);
  assert.deepEqual(required, [make.term([ARCH, AMD64, ARM64], [ARCH, ARM64])]);
  assert.deepEqual(gates, []);
});
