import assert from "node:assert/strict";
import fc from "fast-check";
import type { InspectedImage } from "../../../../lib/oci/inspection.ts";
import { decide } from "../../../../lib/placement/decide/decide.ts";
import { judgeAdmission } from "../../../../lib/placement/decide/admission.ts";
import { judgeImages } from "../../../../lib/placement/decide/judge_images.ts";
import { imagesToInspect } from "../../../../lib/placement/decide/images_to_inspect.ts";
import { admissionPatch } from "../../../../lib/placement/decide/patch/admission_patch.ts";
import { decisionPatch } from "../../../../lib/placement/decide/patch/decision_patch.ts";
import { planTolerations } from "../../../../lib/placement/decide/patch/tolerations.ts";
import { podEventsOf } from "../../../../lib/placement/decide/events/pod_events.ts";
import { countSteps } from "./count_steps.ts";
import { ARCH, ARM64, type Json, make, mark } from "./make.ts";

const GROWTH = 8;
const COUNT = 250;

/** Asserts that the steps of the work on the input of a count grow no faster than the count. */
function growsWithInput<T>(inputOf: (count: number) => T, work: (input: T) => void): void {
  const [few, many] = [COUNT, COUNT * GROWTH].map((count) => {
    const input = inputOf(count);
    return countSteps(() => work(input));
  });
  assert.ok(few !== undefined && many !== undefined && many >= 1);
  const ratio = many / Math.max(few, 1);
  assert.ok(ratio <= GROWTH * 1.2, `${GROWTH} times as much takes ${ratio.toFixed(1)} times as many steps`);
}

const settings = make.settings({
  operatorNamespace: "archway",
  imageVolumes: "require",
  toleratedTaints: [{ key: ARCH, effect: "NoSchedule" }],
});
const SCORING = make.configs(make.clusterConfig({ platforms: [make.platform(ARM64, 50)], fallback: ARM64 }));

function list<T>(count: number, itemOf: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => itemOf(index));
}

/** A record and an audit annotation as an earlier call of Archway leaves them. */
function recordOf(architectures: readonly string[]): string {
  return JSON.stringify({ v: 1, d: "place", a: architectures, i: [] });
}
const OWN = { annotations: { "archway.dev/decision": recordOf(["amd64", "arm64"]) } };

/** Members of a pod that its author may repeat without limit, each as `count` of them. */
const SHAPES: Readonly<Record<string, (count: number) => readonly [spec: Json, metadata: Json]>> = {
  "containers of distinct images": (count) => [{ containers: list(count, (i) => make.container(`i${i}`)) }, {}],
  "containers of one image": (count) => [{ containers: list(count, () => make.container("multi")) }, {}],
  "image volumes": (count) => [{
    volumes: list(count, (i) => ({ name: `v${i}`, image: { reference: `i${i}` } })),
  }, {}],
  "required terms of the user": (count) => [
    { affinity: make.nodeAffinity(list(count, (i) => make.term(["zone", `z${i}`]))) },
    {},
  ],
  "required terms that look like ours": (count) => [
    { affinity: make.nodeAffinity(list(count, () => make.term([ARCH, "amd64", "arm64"]))) },
    OWN,
  ],
  "required terms that share a record out": (count) => [
    { affinity: make.nodeAffinity(list(count, (i) => make.term([ARCH, i === 0 ? "arm64" : "amd64"]))) },
    OWN,
  ],
  "expressions of one term": (count) => [{
    affinity: make.nodeAffinity([make.term(...list(count, (i) => [`key${i}`, "x"] as const))]),
  }, {}],
  "values of one expression": (count) => [
    { affinity: make.nodeAffinity([make.term([ARCH, ...list(count, (i) => `a${i}`)])]) },
    OWN,
  ],
  "preferred terms with their audit": (count) => [
    { affinity: make.nodeAffinity(undefined, list(count, (i) => make.preferredTerm(1 + i % 100, ARCH, `a${i}`))) },
    { annotations: { [mark("preferred-affinity-sources")]: list(count, (i) => `a${i}:${1 + i % 100}:x`).join(",") } },
  ],
  tolerations: (count) => [{ tolerations: list(count, (i) => ({ key: `k${i}`, operator: "Exists" })) }, {}],
  labels: (count) => [{}, { labels: Object.fromEntries(list(count, (i) => [`label${i}`, "x"])) }],
  annotations: (count) => [{}, { annotations: Object.fromEntries(list(count, (i) => [`note${i}`, "x"])) }],
  "scheduling gates": (count) => [{ schedulingGates: list(count, (i) => ({ name: `gate${i}` })) }, {}],
  "a long decision record": (count) => [
    { affinity: make.nodeAffinity([make.term([ARCH, ...list(count, (i) => `a${i}`)])]) },
    { annotations: { "archway.dev/decision": recordOf(list(500, (i) => `a${i}`)) } },
  ],
};

/** Judges an admission without and with known images, and makes its patch. */
function admit(raw: Json): void {
  const pod = make.view(raw);
  for (const known of [undefined, [make.image("multi")]]) {
    admissionPatch(pod, judgeAdmission(make.admission(pod, { configs: SCORING, settings, known })));
  }
}

/** Decides about a gated pod, and makes patch and reports. */
function settle(raw: Json): void {
  const facts = make.facts(raw, { configs: SCORING, settings, images: [make.image("multi")], gateAgeMs: 60_000 });
  const decision = decide(facts);
  decisionPatch(facts.pod, decision);
  podEventsOf(facts.pod, { kind: "applied", decision });
}

for (const [name, shape] of Object.entries(SHAPES)) {
  Deno.test(`judgeAdmission() and its patch take steps in proportion to ${name}`, () => {
    growsWithInput((count) => make.pod(...shape(count)), admit);
  });

  Deno.test(`decide() and its patch and reports take steps in proportion to ${name}`, () => {
    growsWithInput((count) => make.gatedPod(...shape(count)), settle);
  });
}

/** Images as inspections may describe them, `count` of them. */
const IMAGES: Readonly<Record<string, (count: number) => readonly InspectedImage[]>> = {
  "images that share everything": (count) => list(count, (i) => make.imageOf(`i${i}`, LINUX)),
  "images that exclude each other": (count) =>
    list(count, (i) => make.imageOf(`i${i}`, [{ os: "linux", architecture: `a${i}` }])),
  "images that failed": (count) =>
    list(count, (i) => make.failedImage(`i${i}`, { kind: "transient", reason: "Timeout" })),
  "volumes that hold no image": (count) =>
    list(count, (i) => make.failedImage(`i${i}`, { kind: "permanent", reason: "NotAnImage" })),
  "platforms of one image": (count) => [
    make.imageOf("i0", list(count, (i) => ({ os: "linux", architecture: `a${i}`, variant: "v2" }))),
    make.imageOf("i1", list(count, (i) => ({ os: "linux", architecture: `a${i + 1}` }))),
  ],
};
const LINUX = ["amd64", "arm64"].map((architecture) => ({ os: "linux", architecture }));

for (const [name, images] of Object.entries(IMAGES)) {
  Deno.test(`judgeImages() takes steps in proportion to ${name}`, () => {
    growsWithInput((count) => {
      const spec = {
        containers: list(count, (i) => make.container(`i${i}`)),
        affinity: make.nodeAffinity(list(count, () => make.term(["kubernetes.io/os", "linux"]))),
      };
      const pod = make.view(make.pod(spec));
      return { pod, wanted: imagesToInspect(pod, settings), images: images(count) };
    }, (facts) => {
      judgeImages(facts.pod, settings, facts.wanted, facts.images);
    });
  });
}

Deno.test("planTolerations() takes steps in proportion to architectures and to tolerations together", () => {
  growsWithInput((count) => ({
    pod: make.view(make.pod({ tolerations: list(count, (i) => ({ key: `k${i}`, operator: "Exists" })) })),
    architectures: list(count, (i) => `a${i}`),
  }), ({ pod, architectures }) => {
    planTolerations(pod, architectures, settings.toleratedTaints);
  });
});

/** How many of each a pod of a generated shape has, at a scale of 1; what stands inside of a term does not grow. */
const few = fc.nat({ max: 3 });
const SHAPE = fc.record({
  containers: few,
  initContainers: few,
  sameImage: fc.boolean(),
  imageVolumes: few,
  terms: few,
  ours: fc.boolean(),
  expressions: few,
  values: fc.integer({ min: 1, max: 3 }),
  preferred: few,
  tolerations: few,
  labels: few,
  annotations: few,
  gates: few,
});
type Shape = typeof SHAPE extends fc.Arbitrary<infer T> ? T : never;

/** A pod of that shape with `scale` times as many of everything at once: what multiplies two lists shows. */
function podOfShape(shape: Shape, scale: number): readonly [spec: Json, metadata: Json] {
  const each = <T>(count: number, itemOf: (index: number) => T): readonly T[] => list(count * scale, itemOf);
  const imageOf = (index: number): string => shape.sameImage ? "multi" : `i${index}`;
  const expressions = list(shape.expressions, (i) => [`key${i}`, ...list(shape.values, (at) => `v${at}`)] as const);
  const terms = each(shape.terms, (i) => make.term([shape.ours ? ARCH : "zone", "arm64", `z${i}`], ...expressions));
  const preferred = each(shape.preferred, (i) => make.preferredTerm(1 + i % 100, ARCH, `a${i}`));
  const named = (count: number): Json => Object.fromEntries(each(count, (i) => [`name${i}`, "x"]));
  return [{
    containers: [make.container("multi"), ...each(shape.containers, (i) => make.container(imageOf(i)))],
    initContainers: each(shape.initContainers, (i) => make.container(imageOf(i + 1))),
    volumes: each(shape.imageVolumes, (i) => ({ name: `v${i}`, image: { reference: imageOf(i) } })),
    affinity: make.nodeAffinity(terms.length === 0 ? undefined : terms, preferred),
    tolerations: each(shape.tolerations, (i) => ({ key: `k${i}`, operator: "Exists" })),
    schedulingGates: each(shape.gates, (i) => ({ name: `gate${i}` })),
  }, {
    labels: named(shape.labels),
    annotations: { ...named(shape.annotations), ...shape.ours ? OWN.annotations : {} },
  }];
}

Deno.test("judgeAdmission(), decide() and their patches take steps in proportion to pods of any shape", () => {
  fc.assert(
    fc.property(SHAPE, (shape) => {
      growsWithInput((count) => podOfShape(shape, count / 5), ([spec, metadata]) => {
        admit(make.pod(spec, metadata));
        settle(make.gatedPod(spec, metadata));
      });
    }),
    { numRuns: 30 },
  );
});
