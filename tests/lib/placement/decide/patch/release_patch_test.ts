import assert from "node:assert/strict";
import jsonPatch from "fast-json-patch";
import { SCHEDULING_GATE } from "../../../../../lib/names.ts";
import type { JsonPatch } from "../../../../../lib/k8s/patch.ts";
import { decide } from "../../../../../lib/placement/decide/decide.ts";
import { bareReleasePatch, releasePatch } from "../../../../../lib/placement/decide/patch/release_patch.ts";
import { makeSettings } from "../../../../../lib/placement/decide/config/types.ts";
import {
  AMD64,
  annotationsOf,
  applied,
  ARCH,
  ARM64,
  at,
  type FactChanges,
  gatesOf,
  type Json,
  labelsOf,
  make,
  mark,
} from "../make.ts";

const TERMS = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";

function patchOf(raw: Json, changes: FactChanges = {}): JsonPatch {
  const facts = make.facts(raw, changes);
  return releasePatch(facts.pod, decide(facts));
}

function tested(patch: JsonPatch): readonly string[] {
  return patch.filter(({ op }) => op === "test").map(({ path }) => path);
}

function applies(raw: Json, patch: JsonPatch): boolean {
  const operations = structuredClone(patch) as Parameters<typeof jsonPatch.applyPatch>[1];
  try {
    jsonPatch.applyPatch(structuredClone(raw), operations, true);
    return true;
  } catch {
    return false;
  }
}

const FULL = make.gatedPod({
  initContainers: [make.container("multi2")],
  affinity: make.nodeAffinity([make.term(["foo", "bar"])], [make.preferredTerm(1, "foo", "bar")]),
}, { annotations: { note: "x" } });

Deno.test("releasePatch() pins identity, terms, images and gate, and not the resource version", () => {
  assert.deepEqual(tested(patchOf(FULL)), [
    "/metadata/uid",
    TERMS,
    TERMS.replace("required", "preferred").replace("/nodeSelectorTerms", ""),
    "/spec/initContainers/0/image",
    "/spec/containers/0/image",
    "/spec/schedulingGates/0/name",
  ]);
});

Deno.test("releasePatch() pins the resource version when it makes an object that was missing", () => {
  assert.ok(
    tested(patchOf(make.gatedPod({}, { annotations: {} }))).includes("/metadata/resourceVersion"),
    "affinity made",
  );
  const unannotated = make.gatedPod({ affinity: make.nodeAffinity([make.term(["foo", "bar"])]) });
  assert.ok(tested(patchOf(unannotated)).includes("/metadata/resourceVersion"), "annotations made");
});

Deno.test("releasePatch() applies after an unrelated change, and fails after a related one", () => {
  const patch = patchOf(FULL);
  const metadata = FULL.metadata as Json;
  const spec = FULL.spec as Json;
  const unrelated = { ...metadata, resourceVersion: "8", annotations: { note: "y", other: "z" } };
  assert.ok(applies({ ...FULL, metadata: unrelated }, patch));
  const related: readonly Json[] = [
    { ...FULL, metadata: { ...metadata, uid: "other" } },
    { ...FULL, spec: { ...spec, containers: [make.container("changed")] } },
    {
      ...FULL,
      spec: {
        ...spec,
        affinity: make.nodeAffinity([make.term(["foo", "baz"])], [make.preferredTerm(1, "foo", "bar")]),
      },
    },
    { ...FULL, spec: { ...spec, schedulingGates: [{ name: "kueue" }, { name: SCHEDULING_GATE }] } },
  ];
  for (const changed of related) assert.ok(!applies(changed, patch), JSON.stringify(changed));
});

Deno.test("releasePatch() is one patch: affinity first, marks, the gate last", () => {
  const changes = patchOf(FULL).filter(({ op }) => op !== "test").map(({ op, path }) => `${op} ${path}`);
  assert.equal(changes[0], `add ${TERMS}/0/matchExpressions/-`);
  assert.equal(changes.at(-1), "remove /spec/schedulingGates/0");
});

Deno.test("releasePatch() is empty for a pod without the gate and for one being deleted", () => {
  assert.deepEqual(patchOf({ ...FULL, spec: { containers: [make.container("multi")] } }), []);
  assert.deepEqual(patchOf(make.gatedPod({}, { deletionTimestamp: "2026-01-01T00:00:00Z" })), []);
});

Deno.test("releasePatch() of a second equal failure changes only what differs", () => {
  const raw = make.gatedPod({ containers: [make.container("broken")] }, { annotations: {} });
  const once = applied(raw, patchOf(raw));
  const changes = patchOf(once, { failedAttempts: 1 }).filter(({ op }) => op !== "test");
  assert.deepEqual(changes, [
    { op: "replace", path: "/metadata/labels/multiarch.openshift.io~1image-inspect-error-count", value: "2" },
  ]);
});

Deno.test("releasePatch() makes labels where somebody removed them all", () => {
  const raw = make.gatedPod();
  const unlabelled = { ...raw, metadata: { ...(raw.metadata as Json), labels: undefined } };
  const after = applied(JSON.parse(JSON.stringify(unlabelled)), patchOf(unlabelled));
  assert.equal(labelsOf(after)[mark("scheduling-gate")], "removed");
});

Deno.test("releasePatch() adds tolerations for exactly the architectures decided", () => {
  const taint = { key: ARCH, effect: "NoSchedule", architectures: undefined } as const;
  const settings = makeSettings({ archTaints: [taint] });
  const tolerated = { key: ARCH, operator: "Equal", value: AMD64, effect: "NoSchedule" };
  const own = { key: "x", operator: "Exists" };
  const raw = make.gatedPod({ tolerations: [own, tolerated] });
  const after = applied(raw, patchOf(raw, { settings }));
  assert.deepEqual(at(after, "spec", "tolerations"), [own, tolerated, { ...tolerated, value: ARM64 }]);
  const bare = applied(make.gatedPod(), patchOf(make.gatedPod(), { settings }));
  assert.deepEqual(at(bare, "spec", "tolerations"), [tolerated, { ...tolerated, value: ARM64 }]);
});

Deno.test("DV-44 bareReleasePatch() takes only the gate off and says why", () => {
  const raw = make.gatedPod({
    schedulingGates: [{ name: "kueue" }, { name: SCHEDULING_GATE }],
    affinity: make.nodeAffinity([{}]),
  });
  const after = applied(raw, bareReleasePatch(make.view(raw), "x".repeat(300)));
  assert.deepEqual(gatesOf(after), ["kueue"]);
  assert.equal(labelsOf(after)[mark("scheduling-gate")], "removed");
  assert.equal(String(annotationsOf(after)[mark("image-inspect-error")]).length, 256);
  assert.deepEqual(at(after, "spec", "affinity"), at(raw, "spec", "affinity"));
});

Deno.test("releasePatch() of a retry never touches the required terms or the gate", () => {
  const raw = make.gatedPod({ containers: [make.container("broken")] });
  const patch = patchOf(raw, { configs: make.configs(make.clusterConfig({ platforms: [make.platform(AMD64, 1)] })) });
  assert.deepEqual(
    patch.filter(({ op, path }) =>
      op !== "test" && (path.includes("nodeSelectorTerms") || path.includes("schedulingGates"))
    ),
    [],
  );
});

Deno.test("releasePatch() of a retry does not fit a pod that was released meanwhile", () => {
  const raw = make.gatedPod({ containers: [make.container("broken")] });
  const patch = patchOf(raw, { configs: make.configs(make.clusterConfig({ platforms: [make.platform(AMD64, 1)] })) });
  assert.throws(() => applied({ ...raw, spec: { containers: [make.container("broken")] } }, patch));
});
