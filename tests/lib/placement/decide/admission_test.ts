import assert from "node:assert/strict";
import { ApiError } from "../../../../lib/k8s/api_error.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { SCHEDULING_GATE } from "../../../../lib/names.ts";
import { openConfigs } from "../../../../lib/operator/cluster/configs.ts";
import { judgeAdmission, planAdmission } from "../../../../lib/placement/decide/admission.ts";
import { verdictReason } from "../../../../lib/placement/decide/history/reason.ts";
import { parsePod } from "../../../../lib/placement/decide/pod/pod_view.ts";
import { openScene, whileRunning } from "../../../controllers/make.ts";
import { type AdmissionChanges, admit, AMD64, ARCH, ARM64, at, type Json, make, mark, running, S390X } from "./make.ts";

const SCORING = make.configs(make.clusterConfig({ platforms: [make.platform(ARM64, 50)] }));
const MULTI = [make.image("multi")];
const HELD = { schedulingGates: [{ name: SCHEDULING_GATE }] };
const GATED = { [mark("scheduling-gate")]: "gated", [mark("node-affinity")]: "not-set" };

Deno.test("DV-01 judgeAdmission() gates a plain pod by two labels and the gate, without annotations", () => {
  const { patch, labels, annotations, gates } = admit(make.pod());
  assert.deepEqual(labels, GATED);
  assert.deepEqual(gates, [SCHEDULING_GATE]);
  assert.deepEqual(annotations, {});
  assert.deepEqual(patch.map(({ op, path }) => `${op} ${path}`), ["add /metadata/labels", "add /spec/schedulingGates"]);
});

const SCORED = { ...GATED, [mark("preferred-node-affinity")]: "not-set" };
const OFF = make.clusterConfig({ enabled: false });
const PREFERRING = { platforms: [make.platform(ARM64, 1)] };
const ELSEWHERE = { ...PREFERRING, selector: { matchLabels: { app: "other" } } };
const COPIED = { labels: { [mark("scheduling-gate")]: "removed", app: "x" } };
const BY_OWNER = { name: undefined, generateName: "web-" };
const GATES: readonly (readonly [title: string, raw: Json, changes: AdmissionChanges, labels: Json])[] = [
  ["DV-02 judgeAdmission() adds the preferred label when the cluster config scores", make.pod(), {
    configs: SCORING,
  }, SCORED],
  ["DV-03 judgeAdmission() adds the preferred label when a matching namespace config scores", make.pod(), {
    configs: make.configs(OFF, make.namespaceConfig("a", PREFERRING)),
  }, SCORED],
  ["DV-04 judgeAdmission() adds no preferred label when the scoring namespace config does not match", make.pod(), {
    configs: make.configs(OFF, make.namespaceConfig("a", ELSEWHERE)),
  }, GATED],
  ["DV-05 judgeAdmission() overwrites a gate label from a copied manifest", make.pod({}, COPIED), {}, {
    ...GATED,
    app: "x",
  }],
  ["DV-06 judgeAdmission() does not duplicate a gate that the pod brings", make.pod(HELD), {}, GATED],
  ["DV-11 judgeAdmission() gates a plain pod when no cluster config is loaded", make.pod(), {}, GATED],
  ["DV-13 judgeAdmission() gates a pod that has only a generateName", make.pod({}, BY_OWNER), {}, GATED],
];

for (const [title, raw, changes, labels] of GATES) {
  Deno.test(title, () => {
    const outcome = admit(raw, changes);
    assert.deepEqual([outcome.verdict.kind, outcome.gates, outcome.labels], ["gate", [SCHEDULING_GATE], labels]);
  });
}

Deno.test("DV-07 judgeAdmission() appends the gate after foreign ones", () => {
  const { gates } = admit(make.pod({ schedulingGates: [{ name: "kueue" }] }));
  assert.deepEqual(gates, ["kueue", SCHEDULING_GATE]);
});

Deno.test("DV-08 judgeAdmission() gates when the namespace configs could not be listed", async () => {
  const spec = { plugins: { nodeAffinityScoring: { enabled: true, ...PREFERRING } } };
  const scene = openScene({ kind: "PodPlacementConfig", metadata: { name: "a", namespace: "test-namespace" }, spec });
  for (const [mayList, labels] of [[true, SCORED], [false, GATED]] as const) {
    const api = scene.cluster.client(({ verb, plural }) => {
      if (verb === "list" && plural === "podplacementconfigs" && !mayList) throw new ApiError("no", { status: 403 });
    });
    const configs = openConfigs({ api, clock: scene.clock, log: silentLogger });
    await whileRunning(scene, configs, () => {
      const outcome = admit(make.pod(), { configs: configs.forNamespace("test-namespace") });
      assert.deepEqual([outcome.gates, outcome.labels], [[SCHEDULING_GATE], labels]);
    });
  }
});

Deno.test("DV-09 parsePod() says that something is no pod instead of failing", () => {
  for (const odd of [null, 7, "x", [], {}, { spec: null }, { spec: [] }, { kind: "Node", spec: {} }]) {
    assert.equal(parsePod(odd), undefined);
  }
});

Deno.test("DV-10 judgeAdmission() ignores a pod with an architecture of its own when no cluster config is loaded", () => {
  const { verdict, labels, gates } = admit(make.pod({ nodeSelector: { [ARCH]: AMD64 } }));
  assert.equal(verdict.kind === "ignore" && verdict.reason, "AlreadyConstrained");
  assert.deepEqual(labels, { [mark("scheduling-gate")]: "not-set", [mark("node-affinity")]: "not-set" });
  assert.deepEqual(gates, []);
});

for (
  const [id, spec] of [
    ["DV-17", { affinity: make.nodeAffinity([make.term([ARCH, AMD64]), make.term(["foo", "bar"])]) }],
    ["DV-18", { affinity: make.nodeAffinity([{ matchFields: [{ key: ARCH, operator: "In", values: [AMD64] }] }]) }],
    ["DV-24", { hostNetwork: true, os: { name: "windows" } }],
  ] as const
) {
  Deno.test(`${id} judgeAdmission() gates ${JSON.stringify(spec).slice(0, 60)}`, () => {
    assert.equal(admit(make.pod(spec)).verdict.kind, "gate");
  });
}

Deno.test("DV-25 admissionPatch() is empty when nothing changes", () => {
  const once = admit(make.pod({ nodeSelector: { [ARCH]: AMD64 } })).after;
  assert.deepEqual(admit(once).patch, []);
});

Deno.test("judgeAdmission() strips the marks that a new pod brings", () => {
  const labels = { [mark("multi-arch")]: "", [mark(AMD64)]: "", [mark("image-inspect-error-count")]: "4", mine: "x" };
  const annotations = {
    [mark("image-inspect-error")]: "old",
    [mark("preferred-affinity-sources")]: "arm64:1:x",
    "archway.dev/decision": '{"v":1,"d":"place","a":["amd64"],"i":[]}',
    note: "mine",
  };
  const outcome = admit(make.pod({}, { labels, annotations }));
  assert.deepEqual(outcome.labels, { ...GATED, mine: "x" });
  assert.deepEqual(outcome.annotations, { note: "mine" });
});

Deno.test("judgeAdmission() places a pod whose images are all known, labelled as after a release", () => {
  const { verdict, labels, gates, required, preferred } = admit(make.pod(), { configs: SCORING, known: MULTI });
  assert.equal(verdict.kind, "place");
  assert.deepEqual(required, [make.term([ARCH, AMD64, ARM64])]);
  assert.deepEqual(preferred, [make.preferredTerm(50, ARCH, ARM64)]);
  assert.deepEqual(gates, []);
  assert.deepEqual(labels, {
    [mark("scheduling-gate")]: "removed",
    [mark("node-affinity")]: "set",
    [mark("preferred-node-affinity")]: "set",
    [mark("multi-arch")]: "",
    [mark(AMD64)]: "",
    [mark(ARM64)]: "",
  });
});

Deno.test("judgeAdmission() gates a pod that no node can run, so that its event finds it; or places it nowhere", () => {
  const raw = make.pod(running("single-amd64", "single-arm64"));
  // Both exclude what the other has, so their configs must have been read before the answer counts.
  const deep = ["single-amd64", "single-arm64"].map((image) => make.image(image, { depth: "config" }));
  assert.equal(admit(raw, { known: [make.image("single-amd64"), make.image("single-arm64")] }).verdict.kind, "gate");
  assert.equal(admit(raw, { known: deep }).verdict.kind, "gate");
  assert.equal(admit(make.pod(), { known: MULTI, liveArchitectures: ["s390x"] }).verdict.kind, "gate");
  const { verdict, labels } = admit(raw, { known: deep, mayGate: false });
  assert.equal(verdict.kind === "place" && verdict.decision.kind, "nowhere");
  assert.equal(labels[mark("no-supported-arch")], "");
});

Deno.test("judgeAdmission() gates when warm admission is off, or a known image failed", () => {
  const settings = make.settings({ warmAdmission: false });
  assert.equal(admit(make.pod(), { known: MULTI, settings }).verdict.kind, "gate");
  const failed = [make.failedImage("multi", { kind: "transient", reason: "Timeout" })];
  assert.equal(admit(make.pod(), { known: failed }).verdict.kind, "gate");
});

Deno.test("judgeAdmission() adds preferences at once where only they are missing", () => {
  const raw = make.pod({ nodeSelector: { [ARCH]: AMD64 } });
  const { verdict, labels, required, preferred } = admit(raw, { configs: SCORING, mayGate: false });
  assert.equal(verdict.kind, "place");
  assert.deepEqual(preferred, [make.preferredTerm(50, ARCH, ARM64)]);
  assert.equal(labels[mark("node-affinity")], "not-set");
  assert.equal(labels[mark("preferred-node-affinity")], "set");
  assert.equal(required, undefined);
});

Deno.test("judgeAdmission() stops gating when nobody would release the pod, and still places warm ones", () => {
  const { verdict, labels, gates } = admit(make.pod(), { mayGate: false });
  assert.equal(verdict.kind === "pass" && verdict.reason, "GatingStopped");
  assert.deepEqual(gates, []);
  assert.equal(labels[mark("scheduling-gate")], "not-set");
  assert.equal(admit(make.pod(), { mayGate: false, known: MULTI }).verdict.kind, "place");
});

Deno.test("judgeAdmission() changes nothing in audit mode", () => {
  const { verdict, patch } = admit(make.pod(), { settings: make.settings({ audit: true }), known: MULTI });
  assert.equal(verdict.kind === "pass" && verdict.reason, "AuditMode");
  assert.deepEqual(patch, []);
});

Deno.test("judgeAdmission() labels an ignored pod gated when it brings the gate, so that it is let go", () => {
  const { verdict, labels } = admit(make.pod(HELD, { namespace: "kube-system" }));
  assert.equal(verdict.kind, "ignore");
  assert.equal(labels[mark("scheduling-gate")], "gated");
});

Deno.test("judgeAdmission() recognises its own patch on a second call of the same admission", () => {
  const specs = [{}, { nodeSelector: { [ARCH]: AMD64 } }, { affinity: make.nodeAffinity([make.term(["a", "b"])]) }];
  for (const spec of specs) {
    const once = admit(make.pod(spec), { configs: SCORING, known: MULTI });
    assert.equal(once.verdict.kind, "place");
    const twice = admit(once.after, { configs: SCORING, known: MULTI });
    assert.equal(verdictReason(twice.verdict), "OwnPatch");
    assert.deepEqual(twice.patch, []);
  }
});

Deno.test("judgeAdmission() narrows its own patch when a container was injected after the first call", () => {
  const once = admit(make.pod({ affinity: make.nodeAffinity([make.term(["a", "b"])]) }), { known: MULTI }).after;
  const spec = { ...(once.spec as Json), ...running("multi", "single-arm64") };
  const known = [make.image("multi"), make.image("single-arm64", { depth: "config" })];
  const { verdict, labels, required } = admit({ ...once, spec }, { known });
  assert.equal(verdict.kind, "place");
  assert.deepEqual(required, [make.term(["a", "b"], [ARCH, AMD64, ARM64], [ARCH, ARM64])]);
  assert.equal(labels[mark("single-arch")], "");
  assert.ok(!(mark("multi-arch") in labels));
});

Deno.test("judgeAdmission() gates its own patch when an injected image is unknown, and keeps the record", () => {
  const once = admit(make.pod(), { known: MULTI }).after;
  const spec = { ...(once.spec as Json), ...running("multi", "new") };
  const { verdict, labels, annotations, gates } = admit({ ...once, spec });
  assert.equal(verdict.kind, "gate");
  assert.deepEqual(gates, [SCHEDULING_GATE]);
  assert.ok("archway.dev/decision" in annotations);
  assert.ok(!(mark("multi-arch") in labels));
});

Deno.test("judgeAdmission() does not rely on a record whose requirement the pod does not carry", () => {
  const record = '{"v":1,"d":"place","a":["arm64"],"i":[["multi","",["arm64"],"cache"]]}';
  const affinity = make.nodeAffinity([make.term([ARCH, AMD64])]);
  const raw = make.pod({ affinity }, { annotations: { "archway.dev/decision": record } });
  const { verdict, ...outcome } = admit(raw, { known: MULTI });
  assert.equal(verdict.kind === "ignore" && verdict.reason, "AlreadyConstrained");
  assert.deepEqual(outcome.annotations, {});
});

Deno.test("judgeAdmission() never widens the requirement of a copied manifest, whatever is known now", () => {
  const copied = admit(make.pod(), { known: MULTI }).after;
  const { after, labels, required } = admit(copied, { known: [{ ...make.image("multi2"), image: "multi" }] });
  assert.deepEqual(required, [make.term([ARCH, AMD64, ARM64])]);
  assert.ok(!(mark("ppc64le") in labels));
  assert.equal(at(after, "spec", "schedulingGates"), undefined);
});

Deno.test("judgeAdmission() corrects the labels of a copied manifest that its record does not support", () => {
  const copied = admit(make.pod({}, { labels: { app: "x" } }), { known: MULTI });
  const forged = { ...copied.labels, [mark("fallback-arch")]: AMD64, [mark(S390X)]: "" };
  const metadata = { ...(copied.after.metadata as Json), labels: forged };
  assert.deepEqual(admit({ ...copied.after, metadata }, { known: MULTI }).labels, copied.labels);
});

const TAINTS = [{ key: ARCH, effect: "NoSchedule" }] as const;
const tainted = (changes = {}) => ({ settings: make.settings({ ownTaints: TAINTS, ...changes }) });
const KUBE = make.pod(running("multi", "single-arm64"), { namespace: "kube-system" });
const ALL = [...MULTI, make.image("single-arm64", { depth: "config" })];

/** What follows from the verdict on a pod, and on the template of a Job like it. */
const FOLLOW_UPS: readonly (readonly [raw: Json, changes: AdmissionChanges, ofPod: string, ofJob: string])[] = [
  [make.pod(), {}, "asks,inspects,compares", "asks,inspects"],
  [make.pod(), { known: MULTI }, "asks,compares", "asks"],
  [make.pod(), { known: MULTI, isAging: true }, "asks,inspects,compares", "asks"],
  [make.pod(), { known: MULTI, ...tainted({ warmAdmission: false }) }, "inspects,compares", "asks"],
  [make.pod(), { mayGate: false }, "asks,compares", "asks,inspects"],
  [make.pod(), tainted({ audit: true }), "asks", "asks,inspects"],
  [make.pod({ nodeSelector: { [ARCH]: AMD64 } }), {}, "compares", ""],
  [make.pod({}, { ownerReferences: [{ kind: "DaemonSet", name: "d", controller: true }] }), {}, "compares", ""],
  [make.pod({ nodeName: "n" }), tainted(), "", ""],
  [make.pod({}, { namespace: "archway" }), {}, "", ""],
  [KUBE, {}, "", ""],
  [KUBE, tainted({ audit: true }), "", ""],
  [KUBE, tainted({ runtimeClasses: { "": { kind: "skip" } } }), "", ""],
  [KUBE, tainted(), "asks,inspects", ""],
  [KUBE, { known: ALL, ...tainted({ warmAdmission: false }) }, "asks", ""],
  [KUBE, { known: ALL, ...tainted(), isAging: true }, "asks,inspects", ""],
  [KUBE, { known: [...MULTI, make.image("single-arm64")], ...tainted() }, "asks,inspects,reads single-arm64", ""],
];

for (const [index, [raw, changes, ...expected]] of FOLLOW_UPS.entries()) {
  Deno.test(`judgeAdmission() leads to {${expected[0]}} for a pod, {${expected[1]}} for a Job: row ${index + 1}`, () => {
    const facts = make.admission(make.view(raw), changes);
    const job = { ...facts, ...planAdmission(facts.pod, make.configs(), facts.settings, "job") };
    const followUps = [facts, job].map((each) => {
      const { prefetch, possibleBundles, isCompared: compares } = judgeAdmission(each);
      const reads = { [`reads ${possibleBundles}`]: possibleBundles.length > 0 };
      const does = { asks: each.mayUseMemory, inspects: prefetch.length > 0, ...reads, compares };
      return Object.entries(does).flatMap(([name, holds]) => holds ? [name] : []).join();
    });
    assert.deepEqual(followUps, expected);
  });
}
