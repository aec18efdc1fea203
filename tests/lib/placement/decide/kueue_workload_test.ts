import assert from "node:assert/strict";
import fc from "fast-check";
import { decideIgnoringGate } from "../../../../lib/placement/decide/decide.ts";
import { planQueued } from "../../../../lib/placement/decide/plan_inspection.ts";
import type { PlacementDecision } from "../../../../lib/placement/decide/decision_types.ts";
import {
  answerPatch,
  decideKueueWorkload,
  flavorLabels,
  type KueueWorkload,
  narrowTemplate,
  parseKueueWorkload,
} from "../../../../lib/placement/decide/kueue_workload.ts";
import type { KubeObject } from "../../../../lib/k8s/types.ts";
import { AMD64, applied, ARCH, ARM64, at, type FactChanges, type Json, make, requiredOf, running } from "./make.ts";

const QUOTA = { type: "QuotaReserved", status: "True" };
const FLAVORS = new Map([["x86", { [ARCH]: AMD64 }], ["arm", { [ARCH]: ARM64 }], ["any", { pool: "batch" }]]);

interface Changes {
  readonly spec?: Json;
  readonly flavor?: string;
  readonly check?: Json | undefined;
  readonly conditions?: readonly Json[];
  readonly owner?: Json;
}

/** A Workload as Kueue stores it: with quota where it has a flavor. */
function rawWorkload(images: readonly string[], changes: Changes = {}): KubeObject & Json {
  const { spec = {}, flavor, check = { state: "Pending" }, conditions = [], owner } = changes;
  const podSets = images.map((image, index) => ({
    name: `set-${index}`,
    count: 1,
    template: { spec: { ...running(image), ...spec } },
  }));
  return {
    apiVersion: "kueue.x-k8s.io/v1beta2",
    kind: "Workload",
    metadata: {
      name: "w",
      namespace: "test-namespace",
      resourceVersion: "7",
      creationTimestamp: "2026-01-01T00:00:00Z",
      ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "j", uid: "u", ...owner }],
    },
    spec: { podSets },
    status: {
      conditions: [...flavor === undefined ? [] : [QUOTA], ...conditions],
      admissionChecks: [
        { name: "other", state: "Pending" },
        { name: "archway", lastTransitionTime: "2026-01-01T00:00:10Z", message: "", ...check },
      ],
      ...flavor === undefined ? {} : {
        admission: {
          podSetAssignments: podSets.map(({ name }) => ({ name, flavors: { cpu: flavor, memory: flavor } })),
        },
      },
    },
  };
}

function workloadOf(raw: KubeObject): KueueWorkload {
  const workload = parseKueueWorkload(raw);
  assert.ok(workload !== undefined, "there is something to decide");
  return workload;
}

function decisionsOf(raw: KubeObject, changes: FactChanges = {}): readonly PlacementDecision[] {
  return workloadOf(raw).podSets.map(({ index }) =>
    decideIgnoringGate(make.facts(at(raw, "spec", "podSets", index, "template"), { planOf: planQueued, ...changes }))
  );
}

function stepOf(raw: KubeObject, changes: FactChanges = {}): ReturnType<typeof decideKueueWorkload> {
  return decideKueueWorkload({ workload: workloadOf(raw), decisions: decisionsOf(raw, changes), flavors: FLAVORS });
}

function acted(raw: KubeObject): Extract<ReturnType<typeof decideKueueWorkload>, { kind: "act" }> {
  const step = stepOf(raw);
  assert.ok(step.kind === "act");
  return step;
}

Deno.test("Q-02 a Workload without quota gets the affinity of its images into each template, and no answer yet", () => {
  const raw = rawWorkload(["single-amd64", "single-arm64"]);
  const { workloadPatch, answer } = acted(raw);
  assert.equal(answer, undefined);
  const narrowed = applied(raw, workloadPatch);
  const templates = [0, 1].map((index) => at(narrowed, "spec", "podSets", index, "template"));
  assert.deepEqual(templates.map(requiredOf), [[make.term([ARCH, AMD64])], [make.term([ARCH, ARM64])]]);
  const again = acted(narrowed as KubeObject & Json);
  assert.deepEqual(again.workloadPatch, [], "deciding twice changes nothing twice");
});

Deno.test("Q-02 with quota the check is Ready on a flavor where the images run, and takes the quota back on another", () => {
  const answers = ["x86", "arm", "any"].map((flavor) => acted(rawWorkload(["single-amd64"], { flavor })).answer);
  assert.deepEqual(answers, [
    { state: "Ready", message: "set-0: amd64" },
    { state: "Retry", afterSeconds: 1, message: "set-0: amd64; not on flavor arm" },
    { state: "Ready", message: "set-0: amd64" },
  ]);
});

Deno.test("a flavor is wrong where the template's own constraint, or its narrowed affinity, excludes it", () => {
  const spec = { affinity: make.nodeAffinity([make.term([ARCH, AMD64])]) };
  assert.equal(acted(rawWorkload(["single-amd64"], { spec, flavor: "arm" })).answer?.state, "Retry");
  assert.equal(acted(rawWorkload(["multi"], { spec, flavor: "arm" })).answer?.state, "Retry");
});

Deno.test("Q-02 a pin is left alone, and ready where it fits: not on a flavor or any other where its images lack it", () => {
  const answerTo = (image: string, spec: Json, flavor: string): readonly unknown[] => {
    const { workloadPatch, answer } = acted(rawWorkload([image], { spec, flavor }));
    return [workloadPatch, answer?.state, answer?.message];
  };
  for (
    const spec of [{ nodeSelector: { [ARCH]: ARM64 } }, { affinity: make.nodeAffinity([make.term([ARCH, ARM64])]) }]
  ) {
    assert.deepEqual(answerTo("multi", spec, "arm"), [[], "Ready", "set-0: amd64, arm64"]);
    const unread = stepOf(rawWorkload(["broken"], { spec, flavor: "arm" }), { gateAgeMs: 60_000 });
    assert.ok(unread.kind === "act" && unread.answer?.state === "Ready", "what cannot be read excludes nothing");
    for (const flavor of ["arm", "any"]) {
      const expected = [[], "Retry", "set-0: amd64, which its template excludes"];
      assert.deepEqual(answerTo("single-amd64", spec, flavor), expected);
    }
  }
});

Deno.test("Q-02 a template that names more than its images have is narrowed, so that Kueue tries no wrong flavor again", () => {
  const spec = { affinity: make.nodeAffinity([make.term([ARCH, AMD64, ARM64]), make.term([ARCH, ARM64])]) };
  const raw = rawWorkload(["single-amd64"], { spec });
  assert.equal(acted(rawWorkload(["single-amd64"], { spec, flavor: "arm" })).answer?.state, "Retry");
  const narrowed = applied(raw, acted(raw).workloadPatch);
  assert.deepEqual(requiredOf(at(narrowed, "spec", "podSets", 0, "template")), [
    make.term([ARCH, AMD64, ARM64], [ARCH, AMD64]),
    make.term([ARCH, ARM64], [ARCH, AMD64]),
  ]);
  assert.deepEqual(acted(narrowed as KubeObject & Json).workloadPatch, []);
});

Deno.test("a Workload whose images share no architecture gives its quota back for a minute", () => {
  const spec = running("single-amd64", "single-arm64");
  const { workloadPatch, answer } = acted(rawWorkload(["single-amd64"], { spec, flavor: "x86" }));
  assert.deepEqual([workloadPatch, answer?.state, answer?.state === "Retry" && answer.afterSeconds], [[], "Retry", 60]);
});

Deno.test("Q-02 an image that cannot be read holds the check, for as long as a pod would be gated and no longer", () => {
  const states = [0, 30_000, 60_000].map((gateAgeMs) => {
    const step = stepOf(rawWorkload(["broken"], { flavor: "x86" }), { gateAgeMs });
    return step.kind === "wait" ? step.kind : step.answer?.state;
  });
  assert.deepEqual(states, ["wait", "wait", "Ready"]);
});

Deno.test("nothing is decided about a Workload that is admitted, finished, deactivated, deleted, sent back, or does not ask", () => {
  const admitted = { flavor: "x86", conditions: [{ type: "Admitted", status: "True" }] };
  const raw = rawWorkload(["single-amd64"]);
  const open: readonly KubeObject[] = [
    rawWorkload(["single-amd64"], admitted),
    rawWorkload(["single-amd64"], { conditions: [{ type: "Finished", status: "True" }] }),
    { ...raw, spec: { ...raw.spec as Json, active: false } },
    { ...raw, metadata: { ...raw.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
    rawWorkload(["single-amd64"], { flavor: "x86", check: { state: "Ready" } }),
    rawWorkload(["single-amd64"], { flavor: "arm", conditions: [{ type: "Evicted", status: "True" }] }),
  ];
  assert.deepEqual(open.map(parseKueueWorkload), open.map(() => undefined));
});

Deno.test("its Job is the batch/v1 Job that owns it, whose template gets the same", () => {
  assert.equal(workloadOf(rawWorkload(["single-amd64"])).job, "j");
  const other = { apiVersion: "jobset.x-k8s.io/v1alpha2", kind: "JobSet" };
  assert.equal(workloadOf(rawWorkload(["single-amd64"], { owner: other })).job, undefined);
  const job: Json = { spec: { template: { spec: running("single-amd64") } } };
  const template = make.view(at(job, "spec", "template"));
  const [decision] = decisionsOf(rawWorkload(["single-amd64"]));
  const narrowed = applied(job, narrowTemplate(template, decision, "/spec/template"));
  assert.deepEqual(requiredOf(at(narrowed, "spec", "template")), [make.term([ARCH, AMD64])]);
});

Deno.test("an answer changes our check alone, and only while it waits", () => {
  const raw = rawWorkload(["single-amd64"], { flavor: "arm" });
  const answer = { state: "Retry", afterSeconds: 1, message: "m" } as const;
  const patch = answerPatch(workloadOf(raw), answer, Date.parse("2026-01-01T00:00:20Z"));
  assert.deepEqual(at(applied(raw, patch), "status", "admissionChecks"), [
    { name: "other", state: "Pending" },
    {
      name: "archway",
      state: "Retry",
      lastTransitionTime: "2026-01-01T00:00:20Z",
      message: "m",
      requeueAfterSeconds: 1,
    },
  ]);
  assert.throws(() => applied(rawWorkload(["single-amd64"], { check: { state: "Ready" } }), patch));
});

Deno.test("the labels of a flavor are its nodeLabels; one without, or that is gone, has none", () => {
  assert.deepEqual({ ...flavorLabels({ metadata: { name: "x" }, spec: { nodeLabels: { a: "b" } } }) }, { a: "b" });
  assert.deepEqual([flavorLabels({ metadata: { name: "x" }, spec: {} }), flavorLabels(undefined)], [{}, {}]);
});

Deno.test("Q-02 property: what is Ready never has a flavor that the templates, or the images, exclude", () => {
  const set = fc.constantFrom("multi", "single-amd64", "single-arm64");
  const images = fc.array(set, { minLength: 1, maxLength: 3 });
  const flavor = fc.constantFrom("x86", "arm");
  const pin = fc.constantFrom<readonly string[] | undefined>([AMD64], [ARM64], [AMD64, ARM64], undefined);
  fc.assert(fc.property(images, flavor, pin, (names, name, pinned) => {
    const spec = pinned === undefined ? {} : { affinity: make.nodeAffinity([make.term([ARCH, ...pinned])]) };
    const { answer } = acted(rawWorkload(names, { flavor: name, spec }));
    const runs = pinned?.includes(name === "x86" ? AMD64 : ARM64) !== false &&
      names.every((image) => image === "multi" || image === (name === "x86" ? "single-amd64" : "single-arm64"));
    assert.equal(answer?.state, runs ? "Ready" : "Retry");
  }));
});
