import type { InspectedImage } from "../../lib/oci/inspection.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { ApiError, classifyWriteFailure } from "../../lib/k8s/api_error.ts";
import type { JsonPatch } from "../../lib/k8s/patch.ts";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { admissionPatch } from "../../lib/placement/decide/patch/admission_patch.ts";
import { decide } from "../../lib/placement/decide/decide.ts";
import { judgeAdmission } from "../../lib/placement/decide/admission.ts";
import { bareReleasePatch, decisionPatch } from "../../lib/placement/decide/patch/decision_patch.ts";
import { makeSettings } from "../support/placement_settings.ts";
import type { PlacementFacts } from "../../lib/placement/decide/facts.ts";
import {
  admissionFacts,
  applied,
  ARCH,
  at,
  cluster,
  configs,
  container,
  fact,
  type FactChanges,
  factsOf as gatheredFacts,
  gatesOf,
  type Json,
  labelsOf,
  mark,
  nodeAffinity,
  podOf,
  requiredOf,
  term,
  weigh,
} from "../lib/placement/decide/make.ts";
import { type SharedControlPlane, sharedControlPlane } from "./support/shared_control_plane.ts";

const expression = fc.record({
  key: fc.constantFrom("foo", "a.b/c"),
  values: fc.subarray(["x", "y"], { minLength: 1 }),
})
  .map(({ key, values }) => ({ key, operator: "In", values }));
const requiredTerm = fc.record({
  matchExpressions: fc.array(expression, { maxLength: 3 }),
  matchFields: fc.constant([{ key: "metadata.name", operator: "In", values: ["n"] }]),
}, { requiredKeys: [] });
const preferredTerm = fc.record({
  weight: fc.integer({ min: 1, max: 100 }),
  preference: expression.map((one) => ({ matchExpressions: [one] })),
});
const image = fc.constantFrom("multi", "multi2", "single-amd64", "single-arm64", "exotic", "broken");
const pods: fc.Arbitrary<Json> = fc.record({
  metadata: fc.record({
    labels: fc.constantFrom({ app: "x" }, {}),
    annotations: fc.constantFrom({ note: "x" }, {}),
  }, { requiredKeys: [] }),
  spec: fc.record({
    images: fc.array(image, { minLength: 1, maxLength: 3 }),
    affinity: fc.oneof(
      fc.constant({}),
      fc.tuple(
        fc.option(fc.array(requiredTerm, { minLength: 1, maxLength: 3 }), { nil: undefined }),
        fc.option(fc.array(preferredTerm, { minLength: 1, maxLength: 2 }), { nil: undefined }),
      ).map(([required, preferred]) => nodeAffinity(required, preferred)),
    ),
    nodeSelector: fc.constantFrom({ foo: "x" }, { [ARCH]: "arm64" }),
    schedulingGates: fc.constantFrom([], [{ name: "example.com/kueue" }]),
    tolerations: fc.constantFrom([], [{ key: ARCH, operator: "Equal", value: "amd64", effect: "NoSchedule" }]),
  }, { requiredKeys: ["images"] }),
}).map(({ metadata, spec: { images, ...spec } }) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { ...metadata, generateName: "p-" },
  spec: { ...spec, containers: images.map((name, index) => ({ ...container(name), name: `c${index}` })) },
}));

const SETTINGS = makeSettings({ toleratedTaints: [{ key: ARCH, effect: "NoSchedule" }] });
const CONFIGS = configs(cluster({ platforms: [weigh("arm64", 50), weigh("s390x", 5)], fallback: "amd64" }));

function factsOf(raw: unknown, changes: FactChanges): PlacementFacts {
  const counts = { gateAgeMs: 60_000, failedAttempts: 9, permanentFailures: 1, jitter: 0 };
  return gatheredFacts(raw, { configs: CONFIGS, settings: SETTINGS, ...counts, ...changes });
}

async function create(plane: SharedControlPlane, raw: Json): Promise<Json> {
  return await plane.create(`/api/v1/namespaces/${podOf(raw).namespace}/pods`, raw) as Json;
}

function patch(plane: SharedControlPlane, raw: Json, operations: JsonPatch): ReturnType<SharedControlPlane["request"]> {
  const { namespace, name } = podOf(raw);
  return plane.request("PATCH", `/api/v1/namespaces/${namespace}/pods/${name}`, operations);
}

async function patched(plane: SharedControlPlane, raw: Json, operations: JsonPatch): Promise<Json> {
  const answer = await patch(plane, raw, operations);
  assert.equal(answer.status, 200, JSON.stringify({ answer: answer.body, operations, spec: raw.spec }, undefined, 1));
  return answer.body as Json;
}

function admitted(raw: Json, known: readonly InspectedImage[] | undefined): Json {
  const pod = podOf(raw);
  const facts = admissionFacts(pod, { configs: CONFIGS, settings: SETTINGS, known });
  return applied(raw, admissionPatch(pod, judgeAdmission(facts)));
}

Deno.test("a real API server accepts every patch of admission, retry and release", async () => {
  await using plane = await sharedControlPlane();
  const namespace = await plane.createNamespace("patches");
  const reached = { retry: 0, release: 0 };
  for (const raw of fc.sample(pods, { numRuns: 60, seed: 7 })) {
    const withNamespace = { ...raw, metadata: { ...(raw.metadata as Json), namespace } };
    const images = podOf(withNamespace).containers.map((one) => fact(one.image));
    await create(plane, admitted(withNamespace, images));
    let stored = await create(plane, admitted(withNamespace, undefined));
    if (!gatesOf(stored).includes(SCHEDULING_GATE)) continue;
    const early = factsOf(stored, { gateAgeMs: 0, failedAttempts: 0 });
    stored = await patched(plane, stored, decisionPatch(early.pod, decide(early)));
    reached.retry++;
    if (!gatesOf(stored).includes(SCHEDULING_GATE)) continue;
    const late = factsOf(stored, {});
    const released = await patched(plane, stored, decisionPatch(late.pod, decide(late)));
    assert.ok(!gatesOf(released).includes(SCHEDULING_GATE));
    assert.equal(labelsOf(released)[mark("scheduling-gate")], "removed");
    reached.release++;
  }
  assert.ok(reached.retry > 20 && reached.release > 5, JSON.stringify(reached));
});

Deno.test("a real API server distinguishes a pod that changed meanwhile from one it refuses", async () => {
  await using plane = await sharedControlPlane();
  const namespace = await plane.createNamespace("patches");
  const spec = { containers: [{ ...container("multi"), name: "c" }], affinity: nodeAffinity([term(["foo", "x"])]) };
  const raw = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { generateName: "p-", namespace, annotations: { note: "x" } },
    spec,
  };
  const stored = await create(plane, admitted(raw, undefined));
  const facts = factsOf(stored, {});
  const operations = decisionPatch(facts.pod, decide(facts));
  const imageChange: JsonPatch = [{ op: "replace", path: "/spec/containers/0/image", value: "multi2" }];
  const changed = await patched(plane, stored, imageChange);
  const answer = await patch(plane, stored, operations);
  const hasCauses = at(answer.body, "details", "causes") !== undefined;
  assert.equal(classifyWriteFailure(new ApiError("", { status: answer.status, hasCauses })), "stale");
  const labelled = await patched(plane, changed, [{ op: "add", path: "/metadata/labels/mine", value: "x" }]);
  const again = factsOf(changed, { configs: configs(), settings: makeSettings() });
  const released = await patched(plane, changed, decisionPatch(again.pod, decide(again)));
  assert.equal(labelsOf(released).mine, labelsOf(labelled).mine, "an unrelated writer neither conflicts nor loses");
  assert.deepEqual(requiredOf(released), [term(["foo", "x"], [ARCH, "amd64", "arm64", "ppc64le", "s390x"])]);
});

Deno.test("DV-44 a real API server accepts the bare release of a pod whose only term is empty", async () => {
  await using plane = await sharedControlPlane();
  const namespace = await plane.createNamespace("patches");
  const spec = { containers: [{ ...container("multi"), name: "c" }], affinity: nodeAffinity([{}]) };
  const raw = { apiVersion: "v1", kind: "Pod", metadata: { generateName: "p-", namespace }, spec };
  const stored = await create(plane, admitted(raw, undefined));
  const released = await patched(plane, stored, bareReleasePatch(podOf(stored), "the server refused the affinity"));
  assert.deepEqual(gatesOf(released), []);
});
