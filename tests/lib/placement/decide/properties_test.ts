// The invariants that are decisions, on generated pods, images and histories: 1 (released in time), 3 (only narrowed),
// 5 (deciding twice), 7 (unknown fields survive).
import type { JsonObject } from "../../../../lib/json.ts";
import type { InspectedImage } from "../../../../lib/oci/inspection.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { SCHEDULING_GATE } from "../../../../lib/names.ts";
import { admissionPatch } from "../../../../lib/placement/decide/patch/admission_patch.ts";
import { isEmptyTerm } from "../../../../lib/placement/decide/pod/constraints.ts";
import { judgeAdmission } from "../../../../lib/placement/decide/admission.ts";
import { parsePod } from "../../../../lib/placement/decide/pod/pod_view.ts";
import { MAX_RECORD_BYTES } from "../../../../lib/placement/decide/pod/record.ts";
import { podEventsOf } from "../../../../lib/placement/decide/events/pod_events.ts";
import type { PlacementSettings } from "../../../../lib/placement/decide/config/settings.ts";
import type { PlacementConfigs } from "../../../../lib/placement/decide/config/config.ts";
import { admit, ARCH, at, endOf, type FactChanges, type Json, make, mark, NOWHERE, settle } from "./make.ts";

const ARCHITECTURES = ["amd64", "arm64", "ppc64le", "s390x", "riscv64"];
const RUNS = { numRuns: 300 };

const architecture = fc.constantFrom(...ARCHITECTURES);
const key = fc.constantFrom("foo", "a.b/c", "kubernetes.io/os", ARCH, NOWHERE, "constructor");
const expression = fc.record({
  key,
  operator: fc.constantFrom("In", "NotIn", "Exists"),
  values: fc.array(fc.oneof(architecture, fc.constant("x")), { maxLength: 3 }),
});
const requiredTerm = fc.record({
  matchExpressions: fc.array(expression, { maxLength: 3 }),
  matchFields: fc.array(fc.constant({ key: "metadata.name", operator: "In", values: ["n"] }), { maxLength: 1 }),
  unknownTermMember: fc.anything({ maxDepth: 1, withNullPrototype: false }).map((value) =>
    JSON.parse(JSON.stringify(value) ?? "1")
  ),
}, { requiredKeys: [] });
const preferredTerm = fc.record({ weight: fc.integer({ min: 1, max: 100 }), preference: requiredTerm });
const nodeAffinity = fc.record({
  required: fc.array(requiredTerm, { minLength: 1, maxLength: 4 }),
  preferred: fc.array(preferredTerm, { maxLength: 3 }),
}, { requiredKeys: [] }).map(({ required, preferred }) => make.nodeAffinity(required, preferred).nodeAffinity);
const image = fc.constantFrom("a", "b", "registry.example.com:5000/team/app@sha256:" + "f".repeat(64));
const imagePullPolicy = fc.constantFrom("Always", "IfNotPresent");
const members = { name: fc.string(), image, imagePullPolicy, unknown: fc.nat() };
const container = fc.record(members, { requiredKeys: ["name", "image"] });
const label = fc.oneof(fc.constantFrom("app", "a~b/c", mark("amd64"), mark("scheduling-gate")), fc.string());
const labels = fc.dictionary(label, fc.string(), { maxKeys: 4, noNullPrototype: true });
const record = '{"v":1,"d":"place","a":["amd64"],"i":[["a","",["amd64"],"cache"]]}';
const annotations = fc.dictionary(
  fc.constantFrom("note", "archway.dev/decision", mark("preferred-affinity-sources")),
  fc.constantFrom("x", "amd64:1:ClusterPodPlacementConfig", record),
  { noNullPrototype: true },
);
const pods: fc.Arbitrary<Json> = fc.record({
  metadata: fc.record({
    name: fc.constant("p"),
    namespace: fc.constantFrom(...Array(6).fill("test-namespace"), "kube-system", "other"),
    uid: fc.constant("u"),
    resourceVersion: fc.constant("1"),
    labels,
    annotations,
    unknownMetadata: fc.constant({ keep: [1, null] }),
  }, { requiredKeys: ["name", "namespace", "uid", "resourceVersion"] }),
  spec: fc.record({
    containers: fc.array(container, { minLength: 1, maxLength: 30 }),
    initContainers: fc.array(container, { maxLength: 3 }),
    affinity: fc.record({ nodeAffinity, podAffinity: fc.constant({ unknown: 1 }) }, { requiredKeys: [] }),
    nodeSelector: fc.dictionary(key, fc.constantFrom("amd64", "x"), { maxKeys: 2, noNullPrototype: true }),
    schedulingGates: fc.uniqueArray(fc.constantFrom("kueue", "other", SCHEDULING_GATE)).map((names) =>
      names.map((name) => ({ name }))
    ),
    tolerations: fc.array(fc.constantFrom({ operator: "Exists" }, { key: ARCH, value: "amd64" }), { maxLength: 2 }),
    unknownSpec: fc.constant({ deep: { list: ["x"] } }),
  }, { requiredKeys: ["containers"] }),
  unknownTop: fc.constant(true),
}, { requiredKeys: ["metadata", "spec"] }).map((pod) => JSON.parse(JSON.stringify(pod)));

const windows = fc.array(fc.constant({ os: "windows", architecture: "amd64" }), { maxLength: 1 });
const platforms = fc.tuple(fc.subarray(ARCHITECTURES, { minLength: 2 }), fc.subarray(["unknown", "amd64"]), windows)
  .map(([names, more, others]) =>
    [...names, ...more].map((name) => ({ os: "linux", architecture: name })).concat(others)
  );
const failure = fc.record({
  kind: fc.constantFrom("permanent" as const, "transient" as const),
  reason: fc.constantFrom("ManifestUnknown" as const, "ServerError" as const),
  message: fc.string(),
});
const inspectionOf = (name: string): fc.Arbitrary<InspectedImage> =>
  fc.oneof(
    {
      weight: 20,
      arbitrary: fc.tuple(platforms, fc.constantFrom("index" as const, "config" as const)).map(([all, depth]) =>
        make.imageOf(name, all, { depth })
      ),
    },
    { weight: 1, arbitrary: failure.map((one) => make.failedImage(name, one)) },
    { weight: 1, arbitrary: fc.constant(make.bundle(name)) },
  );
const weights = fc.array(fc.record({ architecture, weight: fc.integer({ min: 1, max: 100 }) }), { maxLength: 4 });
const someConfigs: fc.Arbitrary<PlacementConfigs> = fc.record({
  scoring: weights,
  enabled: fc.boolean(),
  fallback: fc.option(architecture, { nil: undefined }),
  own: fc.array(weights, { maxLength: 3 }),
}).map(({ scoring, enabled, fallback, own }) =>
  make.configs(
    make.clusterConfig({ platforms: scoring, enabled, ...(fallback ? { fallback } : {}) }),
    ...own.map((platforms, priority) => make.namespaceConfig(`p${priority}`, { priority, platforms })),
  )
);
const TAINTS = [{ key: ARCH, effect: "NoSchedule" as const }];
const someSettings: fc.Arbitrary<PlacementSettings> = fc.constantFrom([], TAINTS)
  .map((toleratedTaints) => make.settings({ operatorNamespace: "archway", toleratedTaints }));

/** A pod, with one inspection for each of its images. */
const scenes = fc.record({ raw: pods, configs: someConfigs, settings: someSettings }).chain((scene) => {
  const pod = make.view(scene.raw);
  const images = [...new Set(pod.containers.map((one) => one.image))];
  return fc.tuple(...images.map(inspectionOf)).map((facts) => ({
    ...scene,
    images: facts as readonly InspectedImage[],
  }));
});

type Scene = typeof scenes extends fc.Arbitrary<infer T> ? T : never;

function admitted({ raw, configs, settings }: Scene, known?: readonly InspectedImage[]): Json {
  return admit(raw, { configs, settings, known }).after;
}

function settled(
  raw: Json,
  { configs, settings, images }: Scene,
  changes: FactChanges = {},
): ReturnType<typeof settle> {
  const counts = { gateAgeMs: 60_000, failedAttempts: 3, permanentFailures: 1 };
  return settle(raw, { configs, settings, images, ...counts, ...changes });
}

/** Whether every old OR-term stands in its place, its expressions a prefix of what is there now. */
function assertNarrowed(before: Json, after: Json): void {
  const [was, is] = [endOf(before), endOf(after)];
  const old = was.required as readonly JsonObject[] | undefined;
  const now = is.required as readonly JsonObject[] | undefined;
  if (old === undefined) return;
  assert.equal(now?.length, old.length, "no term comes or goes");
  old.forEach((term, index) => {
    const narrowed = now[index] ?? {};
    const expressions = (term.matchExpressions ?? []) as readonly unknown[];
    const longer = (narrowed.matchExpressions ?? []) as readonly unknown[];
    assert.deepEqual(longer.slice(0, expressions.length), expressions, "a prefix");
    if (isEmptyTerm(term)) assert.deepEqual(narrowed, term, "an empty term stays empty");
    assert.deepEqual({ ...narrowed, matchExpressions: 0 }, { ...term, matchExpressions: 0 }, "other members stay");
  });
  const preferred = (was.preferred ?? []) as readonly unknown[];
  assert.deepEqual(((is.preferred ?? []) as readonly unknown[]).slice(0, preferred.length), preferred);
}

/** What is left of a pod when everything that Archway may write is taken away. */
function withoutOurs(raw: Json): Json {
  const rest = structuredClone(raw);
  const spec = rest.spec as Json;
  for (const part of ["schedulingGates", "tolerations"]) delete spec[part];
  const affinity = spec.affinity as Json | undefined;
  delete affinity?.nodeAffinity;
  if (affinity !== undefined && Object.keys(affinity).length === 0) delete spec.affinity;
  const metadata = rest.metadata as Json;
  for (const part of ["labels", "annotations"]) {
    const foreign = Object.entries((metadata[part] ?? {}) as Json).filter(([name]) =>
      !/^(multiarch\.openshift\.io|archway\.dev)\//.test(name)
    );
    delete metadata[part];
    if (foreign.length > 0) metadata[part] = Object.fromEntries(foreign);
  }
  return rest;
}

function foreignGates(raw: Json): readonly string[] {
  return endOf(raw).gates.filter((name) => name !== SCHEDULING_GATE);
}

/** Asserts it of scenes, whose images are known at admission or not. */
function holds(title: string, check: (scene: Scene, isWarm: boolean) => void): void {
  Deno.test(title, () => fc.assert(fc.property(scenes, fc.boolean(), check), RUNS));
}

holds("invariant 3: admission and release only ever narrow the user's constraints", (scene, warm) => {
  const created = admitted(scene, warm ? scene.images : undefined);
  assertNarrowed(scene.raw, created);
  assertNarrowed(created, settled(created, scene).after);
});

holds("invariant 7: everything that is not ours survives admission and release", (scene, warm) => {
  const created = admitted(scene, warm ? scene.images : undefined);
  for (const after of [created, settled(created, scene).after]) {
    assert.deepEqual(withoutOurs(after), withoutOurs(scene.raw));
    assert.deepEqual(foreignGates(after), foreignGates(scene.raw));
    const tolerations = (at(scene.raw, "spec", "tolerations") ?? []) as readonly unknown[];
    assert.deepEqual(
      ((at(after, "spec", "tolerations") ?? []) as readonly unknown[]).slice(0, tolerations.length),
      tolerations,
    );
  }
});

holds("invariant 5: judging an admitted pod again in the same admission changes nothing", (scene, warm) => {
  const known = warm ? scene.images : undefined;
  const once = admitted(scene, known);
  assert.deepEqual(admitted({ ...scene, raw: once }, known), once);
});

holds("invariant 5: deciding twice gives the same, and a settled pod is left alone", (scene) => {
  const gated = admitted(scene);
  const once = settled(gated, scene);
  assert.deepEqual(once.decision, settled(structuredClone(gated), scene).decision);
  const again = settled(once.after, scene);
  assert.deepEqual(again.decision, { kind: "ignore", reason: "NotGated" });
  assert.deepEqual(again.patch, []);
});

Deno.test("invariant 1: past the deadline every decision takes the gate off", () => {
  fc.assert(
    fc.property(scenes, fc.nat({ max: 10 }), (scene, failedAttempts) => {
      const { decision, gates } = settled(admitted(scene), scene, { failedAttempts });
      assert.notEqual(decision.kind, "retry");
      assert.ok(!gates.includes(SCHEDULING_GATE));
    }),
    RUNS,
  );
});

Deno.test("invariant 1: every history of failures ends inside the deadline", () => {
  fc.assert(
    fc.property(scenes, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (scene, jitters) => {
      let raw = admitted(scene);
      let gateAgeMs = 0;
      for (let failedAttempts = 0; failedAttempts < 50; failedAttempts++) {
        const jitter = jitters.next().value ?? 0;
        const { decision, after } = settled(raw, scene, { gateAgeMs, failedAttempts, jitter });
        raw = after;
        if (decision.kind !== "retry") return;
        assert.ok(decision.afterMs > 0 && decision.count >= 1 && decision.count <= 4);
        gateAgeMs += decision.afterMs;
        assert.ok(gateAgeMs < scene.settings.maxGateAgeMs);
      }
      assert.fail("no end");
    }),
    RUNS,
  );
});

holds("reports and records stay small, and labels are ours or the user's", (scene) => {
  const { pod, decision, annotations, labels } = settled(admitted(scene), scene);
  const all = podEventsOf(pod, { kind: "applied", decision });
  assert.ok(all.length <= 3 && all.every(({ message }) => [...message].length <= 1_024));
  const record = String(annotations["archway.dev/decision"] ?? "");
  assert.ok(new TextEncoder().encode(record).length <= MAX_RECORD_BYTES);
  for (const name of Object.keys(labels)) {
    assert.ok(name.startsWith("multiarch.openshift.io/") || name in endOf(scene.raw).labels, name);
  }
});

Deno.test("parsePod() never throws, whatever the JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (metadata, spec) => {
      const pod = parsePod({ metadata, spec });
      if (pod === undefined) return;
      const verdict = judgeAdmission(make.admission(pod));
      assert.ok(Array.isArray(admissionPatch(pod, verdict)));
    }),
    RUNS,
  );
});
