import assert from "node:assert/strict";
import { SCHEDULING_GATE } from "../../../../../lib/names.ts";
import type { JsonPatch } from "../../../../../lib/k8s/patch.ts";
import { bareReleasePatch } from "../../../../../lib/placement/decide/patch/decision_patch.ts";
import { AMD64, applied, ARCH, ARM64, at, endOf, type Json, make, mark, running, settle } from "../make.ts";

const TERMS = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";

function tested(patch: JsonPatch): readonly string[] {
  return patch.filter(({ op }) => op === "test").map(({ path }) => path);
}

const PREFERRED = [make.preferredTerm(1, "foo", "bar")];
const FULL = make.gatedPod({
  initContainers: [make.container("multi2")],
  affinity: make.nodeAffinity([make.term(["foo", "bar"])], PREFERRED),
}, { annotations: { note: "x" } });

Deno.test("decisionPatch() pins identity, terms, images and gate, and not the resource version", () => {
  assert.deepEqual(tested(settle(FULL).patch), [
    "/metadata/uid",
    TERMS,
    TERMS.replace("required", "preferred").replace("/nodeSelectorTerms", ""),
    "/spec/initContainers/0/image",
    "/spec/containers/0/image",
    "/spec/schedulingGates/0/name",
  ]);
});

Deno.test("decisionPatch() pins the resource version when it makes an object that was missing", () => {
  const unannotated = make.gatedPod({ affinity: make.nodeAffinity([make.term(["foo", "bar"])]) });
  for (const raw of [make.gatedPod({}, { annotations: {} }), unannotated]) {
    assert.ok(tested(settle(raw).patch).includes("/metadata/resourceVersion"));
  }
});

Deno.test("decisionPatch() applies after an unrelated change, and fails after a related one", () => {
  const { patch } = settle(FULL);
  const metadata = FULL.metadata as Json;
  const spec = FULL.spec as Json;
  const unrelated = { ...metadata, resourceVersion: "8", annotations: { note: "y", other: "z" } };
  assert.doesNotThrow(() => applied({ ...FULL, metadata: unrelated }, patch));
  const related: readonly Json[] = [
    { ...FULL, metadata: { ...metadata, uid: "other" } },
    { ...FULL, spec: { ...spec, ...running("changed") } },
    { ...FULL, spec: { ...spec, affinity: make.nodeAffinity([make.term(["foo", "baz"])], PREFERRED) } },
    { ...FULL, spec: { ...spec, schedulingGates: [{ name: "kueue" }, { name: SCHEDULING_GATE }] } },
  ];
  for (const changed of related) assert.throws(() => applied(changed, patch), Error, JSON.stringify(changed));
});

Deno.test("decisionPatch() is one patch: affinity first, marks, the gate last", () => {
  const changes = settle(FULL).patch.filter(({ op }) => op !== "test").map(({ op, path }) => `${op} ${path}`);
  assert.equal(changes[0], `add ${TERMS}/0/matchExpressions/-`);
  assert.equal(changes.at(-1), "remove /spec/schedulingGates/0");
});

Deno.test("decisionPatch() is empty for a pod without the gate and for one being deleted", () => {
  assert.deepEqual(settle({ ...FULL, spec: running("multi") }).patch, []);
  assert.deepEqual(settle(make.gatedPod({}, { deletionTimestamp: "2026-01-01T00:00:00Z" })).patch, []);
});

Deno.test("decisionPatch() of a second equal failure changes only what differs", () => {
  const once = settle(make.gatedPod(running("broken"), { annotations: {} })).after;
  const changes = settle(once, { failedAttempts: 1 }).patch.filter(({ op }) => op !== "test");
  assert.deepEqual(changes, [
    { op: "replace", path: "/metadata/labels/multiarch.openshift.io~1image-inspect-error-count", value: "2" },
  ]);
});

Deno.test("decisionPatch() makes labels where somebody removed them all", () => {
  const raw = make.gatedPod();
  const unlabelled = { ...raw, metadata: { ...(raw.metadata as Json), labels: undefined } };
  assert.equal(settle(JSON.parse(JSON.stringify(unlabelled))).marks["scheduling-gate"], "removed");
});

Deno.test("decisionPatch() adds tolerations for exactly the architectures decided", () => {
  const taint = { key: ARCH, effect: "NoSchedule" } as const;
  const settings = make.settings({ toleratedTaints: [taint] });
  const tolerated = { key: ARCH, operator: "Equal", value: AMD64, effect: "NoSchedule" };
  const [own, arm] = [{ key: "x", operator: "Exists" }, { ...tolerated, value: ARM64 }];
  const tolerationsOf = (raw: Json): unknown => at(settle(raw, { settings }).after, "spec", "tolerations");
  assert.deepEqual(tolerationsOf(make.gatedPod({ tolerations: [own, tolerated] })), [own, tolerated, arm]);
  assert.deepEqual(tolerationsOf(make.gatedPod()), [tolerated, arm]);
});

Deno.test("DV-44 bareReleasePatch() takes only the gate off and says why", () => {
  const raw = make.gatedPod({
    schedulingGates: [{ name: "kueue" }, { name: SCHEDULING_GATE }],
    affinity: make.nodeAffinity([{}]),
  });
  const after = applied(raw, bareReleasePatch(make.view(raw), "x".repeat(300)));
  const { gates, marks, annotations } = endOf(after);
  assert.deepEqual(gates, ["kueue"]);
  assert.equal(marks["scheduling-gate"], "removed");
  assert.equal(String(annotations[mark("image-inspect-error")]).length, 256);
  assert.deepEqual(at(after, "spec", "affinity"), at(raw, "spec", "affinity"));
});

const BROKEN = make.gatedPod(running("broken"));
const SCORING = make.configs(make.clusterConfig({ platforms: [make.platform(AMD64, 1)] }));
const RETRY = settle(BROKEN, { configs: SCORING }).patch;

Deno.test("decisionPatch() of a retry never touches the required terms or the gate", () => {
  const touched = RETRY.filter(({ op }) => op !== "test").map(({ path }) => path);
  assert.deepEqual(touched.filter((path) => /nodeSelectorTerms|schedulingGates/.test(path)), []);
});

Deno.test("decisionPatch() of a retry does not fit a pod that was released meanwhile", () => {
  assert.throws(() => applied({ ...BROKEN, spec: running("broken") }, RETRY));
});
