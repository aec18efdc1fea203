import assert from "node:assert/strict";
import { SCHEDULING_GATE } from "../../../../lib/names.ts";
import { planInspection } from "../../../../lib/placement/decide/plan_inspection.ts";
import { makeSettings } from "../../../support/placement_settings.ts";
import { AMD64, ARCH, ARM64, at, endOf, type FactChanges, type Json, make, mark, released, running } from "./make.ts";

function settle(raw: Json, changes: FactChanges = {}): ReturnType<typeof released> {
  return released(raw, make.facts(raw, changes));
}

function marks(raw: Json): Json {
  return Object.fromEntries(
    Object.entries(endOf(raw).labels).map(([key, value]) => [key.replace(mark(""), ""), value]),
  );
}

const SCORING = make.configs(make.clusterConfig({ platforms: [make.platform(ARM64, 50)] }));
const PREFER_ARM64 = make.preferredTerm(50, ARCH, ARM64);
const BROKEN = running("broken");
const GIVEN_UP = { gateAgeMs: 60_000, failedAttempts: 6 };
const FALLING_BACK = { configs: make.configs(make.clusterConfig({ fallback: AMD64 })), ...GIVEN_UP };
const PERMANENT = [make.failedImage("broken", { kind: "permanent", reason: "ManifestUnknown", registry: "quay.io" })];
const COUNT = "image-inspect-error-count";
const NAS_LABEL = { labels: { [mark("preferred-node-affinity")]: "not-set" } };

Deno.test("DV-40 matrix: success with no architecture in common is labelled so", () => {
  const { decision, after } = settle(make.gatedPod(running("single-amd64", "single-arm64")));
  assert.equal(decision.kind, "nowhere");
  assert.deepEqual(marks(after), { "scheduling-gate": "removed", "node-affinity": "set", "no-supported-arch": "" });
  assert.deepEqual(endOf(after).gates, []);
});

function preferring(weight: number, architecture: string): Json {
  const preferred = [make.preferredTerm(weight, ARCH, architecture)];
  return make.gatedPod({ affinity: make.nodeAffinity(undefined, preferred) }, NAS_LABEL);
}

Deno.test("PR-15 matrix: a user's architecture preference silences the configs", () => {
  const { after } = settle(preferring(10, ARM64), { configs: SCORING });
  assert.deepEqual(endOf(after).preferred, [make.preferredTerm(10, ARCH, ARM64)]);
  assert.equal(marks(after)["preferred-node-affinity"], "not-set");
  assert.equal(marks(after)["node-affinity"], "set");
  assert.equal(
    endOf(after).annotations[mark("preferred-affinity-sources")],
    "arm64:50:ClusterPodPlacementConfig:skipped",
  );
});

Deno.test("PR-20 matrix: a user's architecture preference silences namespace configs too, and is labelled so", () => {
  const own = [
    make.namespaceConfig("a", { platforms: [make.platform(ARM64, 30)] }),
    make.namespaceConfig("b", { platforms: [make.platform(AMD64, 60)] }),
  ];
  const { after } = settle(preferring(20, AMD64), { configs: make.configs(SCORING.cluster, ...own) });
  assert.deepEqual(endOf(after).preferred, [make.preferredTerm(20, ARCH, AMD64)]);
  assert.equal(marks(after)["preferred-node-affinity"], "not-set");
});

Deno.test("DV-34 matrix: a required architecture of the user gets preferences only, without inspection", () => {
  const raw = make.gatedPod({ nodeSelector: { [ARCH]: AMD64 } }, NAS_LABEL);
  assert.equal(planInspection(make.view(raw), SCORING, makeSettings()).kind, "decided");
  const { after } = settle(raw, { configs: SCORING, images: [] });
  assert.deepEqual(marks(after), {
    "scheduling-gate": "removed",
    "node-affinity": "not-set",
    "preferred-node-affinity": "set",
  });
  assert.equal(endOf(after).required, undefined);
  assert.deepEqual(endOf(after).preferred, [PREFER_ARM64]);
});

Deno.test("DV-33 matrix: gated, then ignorable: released unchanged", () => {
  const raw = make.gatedPod({ nodeSelector: { [ARCH]: AMD64 } });
  const { decision, after } = settle(raw);
  assert.deepEqual(decision, { kind: "ignore", reason: "AlreadyConstrained" });
  assert.deepEqual(marks(after), { "scheduling-gate": "removed", "node-affinity": "not-set" });
  assert.equal(at(after, "spec", "affinity"), undefined);
  assert.deepEqual(endOf(after).annotations, {});
});

Deno.test("PR-16 matrix: given up without fallback", () => {
  const { decision, after } = settle(make.gatedPod(BROKEN, NAS_LABEL), { configs: SCORING, ...GIVEN_UP });
  assert.equal(decision.kind, "release");
  assert.deepEqual(endOf(after).gates, []);
  assert.deepEqual(marks(after), {
    "scheduling-gate": "removed",
    "node-affinity": "not-set",
    "preferred-node-affinity": "set",
    "image-inspect-error": "",
    [COUNT]: "5",
  });
  assert.equal(endOf(after).required, undefined);
});

Deno.test("PR-04 matrix: given up with a fallback", () => {
  const { decision, after } = settle(make.gatedPod(BROKEN), FALLING_BACK);
  assert.equal(decision.kind, "fallback");
  assert.deepEqual(marks(after), {
    "scheduling-gate": "removed",
    "node-affinity": "set",
    "fallback-arch": AMD64,
    "image-inspect-error": "",
    [COUNT]: "5",
  });
  assert.deepEqual(endOf(after).required, [make.term([ARCH, AMD64])]);
});

Deno.test("DV-45 matrix: success after failures keeps count and annotation, drops the error label, repeats no preference", () => {
  const failed = settle(make.gatedPod(BROKEN), { configs: SCORING }).after;
  const audit = endOf(failed).annotations[mark("preferred-affinity-sources")];
  const images = [{ ...make.image("multi"), image: "broken" }];
  const { after } = settle(failed, { configs: SCORING, failedAttempts: 1, images });
  assert.equal(marks(after)[COUNT], "1");
  assert.ok(!("image-inspect-error" in marks(after)));
  assert.ok(mark("image-inspect-error") in endOf(after).annotations);
  assert.deepEqual(endOf(after).preferred, [PREFER_ARM64]);
  assert.equal(endOf(after).annotations[mark("preferred-affinity-sources")], audit);
  assert.equal(marks(after)["preferred-node-affinity"], "set");
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
    const { decision, after } = settle(make.gatedPod({}, { namespace }));
    assert.deepEqual(decision, { kind: "ignore", reason });
    assert.equal(marks(after)["scheduling-gate"], "removed");
    assert.deepEqual(endOf(after).gates, []);
  });
}

Deno.test("DV-35 decide() keeps foreign gates", () => {
  const raw = make.gatedPod({ schedulingGates: [{ name: "a" }, { name: SCHEDULING_GATE }, { name: "b" }] });
  const { after } = settle(raw);
  assert.deepEqual(endOf(after).gates, ["a", "b"]);
  assert.deepEqual(endOf(after).required, [make.term([ARCH, AMD64, ARM64])]);
});

Deno.test("DV-39 decide() requires unknown architectures but labels only known ones", () => {
  const { after } = settle(make.gatedPod(running("exotic")));
  assert.deepEqual(endOf(after).required, [make.term([ARCH, AMD64, "riscv64"])]);
  assert.deepEqual(marks(after), { "scheduling-gate": "removed", "node-affinity": "set", "multi-arch": "", amd64: "" });
});

/** A pod that cannot be inspected, and was not so often before. */
function counted(count: string): Json {
  return make.gatedPod(BROKEN, { labels: { [mark(COUNT)]: count } });
}

Deno.test("DV-46 (different: a seed is stripped at admission, the deadline counts) decide() retries a pod with count 4", () => {
  const { decision, after } = settle(counted("4"));
  assert.equal(decision.kind, "retry");
  assert.equal(marks(after)[COUNT], "4");
});

Deno.test("DV-47 decide() restarts the count where the label is no number", () => {
  const { after } = settle(counted("abc"));
  assert.equal(marks(after)[COUNT], "1");
});

Deno.test("DV-48 decide() keeps the pod gated with count 4 after many failures inside the deadline", () => {
  const { after } = settle(make.gatedPod(BROKEN), { failedAttempts: 3, gateAgeMs: 5_000 });
  assert.equal(marks(after)[COUNT], "4");
  assert.equal(marks(after)["scheduling-gate"], "gated");
  assert.deepEqual(endOf(after).gates, [SCHEDULING_GATE]);
});

Deno.test("DV-49 decide() goes on counting from the label after a restart", () => {
  const { after } = settle(counted("2"), { failedAttempts: 0 });
  assert.equal(marks(after)[COUNT], "3");
});

Deno.test("DV-50 decide() cuts the error annotation to 256 code points", () => {
  const message = "🐳".repeat(400);
  const images = [make.failedImage("broken", { kind: "transient", reason: "ServerError", message })];
  const { after } = settle(make.gatedPod(BROKEN), { images });
  assert.equal([...String(endOf(after).annotations[mark("image-inspect-error")])].length, 256);
});

Deno.test("DV-51 decide() has no fallback when no cluster config is loaded", () => {
  assert.equal(settle(make.gatedPod(BROKEN), GIVEN_UP).decision.kind, "release");
});

Deno.test("DV-52 decide() adds the fallback only to terms without an architecture", () => {
  const affinity = make.nodeAffinity([make.term([ARCH, ARM64]), make.term(["foo", "bar"])]);
  const { after } = settle(make.gatedPod({ ...BROKEN, affinity }), FALLING_BACK);
  assert.deepEqual(endOf(after).required, [make.term([ARCH, ARM64]), make.term(["foo", "bar"], [ARCH, AMD64])]);
});

Deno.test("DV-65 decide() places without preferences and fallback when the cluster config went away", () => {
  const { after } = settle(make.gatedPod({}, NAS_LABEL));
  assert.equal(endOf(after).preferred, undefined);
  assert.ok(!("preferred-node-affinity" in marks(after)));
  assert.equal(settle(make.gatedPod(BROKEN), GIVEN_UP).decision.kind, "release");
});

Deno.test("PR-03 decide() confirms a permanent failure once after a second, then gives up", () => {
  const first = settle(make.gatedPod(BROKEN), { images: PERMANENT });
  assert.equal(first.decision.kind === "retry" && first.decision.afterMs, 1_000);
  const second = settle(first.after, { images: PERMANENT, failedAttempts: 1, gateAgeMs: 1_200 });
  assert.equal(second.decision.kind, "release");
  assert.equal(marks(second.after)[COUNT], "5");
});

Deno.test("decide() leaves a pod that is being deleted alone", () => {
  const raw = make.gatedPod({}, { deletionTimestamp: "2026-01-01T00:00:00Z" });
  const { decision, after } = settle(raw);
  assert.deepEqual(decision, { kind: "ignore", reason: "Deleting" });
  assert.deepEqual(endOf(after).gates, [SCHEDULING_GATE]);
});

Deno.test("decide() only ungates in audit mode", () => {
  const { decision, after } = settle(make.gatedPod(), { settings: makeSettings({ audit: true }) });
  assert.deepEqual(decision, { kind: "ignore", reason: "AuditMode" });
  assert.equal(at(after, "spec", "affinity"), undefined);
  assert.deepEqual(endOf(after).gates, []);
});

Deno.test("decide() keeps to the architectures that the cluster offers, and reports when it offers none", () => {
  const offered = settle(make.gatedPod(), { liveArchitectures: [AMD64, "s390x"] });
  assert.deepEqual(endOf(offered.after).required, [make.term([ARCH, AMD64])]);
  const none = settle(make.gatedPod(), { liveArchitectures: ["s390x"] });
  assert.deepEqual(endOf(none.after).required, [make.term([ARCH, AMD64, ARM64])]);
  assert.equal(none.decision.kind === "place" && none.decision.noMatchingNodes, true);
});

Deno.test("decide() narrows its own earlier requirement when a container came late", () => {
  const record = '{"v":1,"d":"place","a":["amd64","arm64"],"i":[["multi","",["amd64","arm64"],"cache"]]}';
  const spec = { ...running("multi", "single-arm64"), affinity: make.nodeAffinity([make.term([ARCH, AMD64, ARM64])]) };
  const raw = make.gatedPod(spec, { annotations: { "archway.dev/decision": record } });
  assert.equal(planInspection(make.view(raw), make.configs(), makeSettings()).kind, "inspect");
  const { after } = settle(raw);
  assert.deepEqual(endOf(after).required, [make.term([ARCH, AMD64, ARM64], [ARCH, ARM64])]);
  assert.deepEqual(endOf(after).gates, []);
});
