import assert from "node:assert/strict";
import fc from "fast-check";
import { decide } from "../../../../../lib/placement/decide/decide.ts";
import { judgeAdmission } from "../../../../../lib/placement/decide/gate.ts";
import { admissionPatch } from "../../../../../lib/placement/decide/patch/admission_patch.ts";
import { MAX_ANNOTATION_BYTES } from "../../../../../lib/placement/decide/patch/pod_patch.ts";
import { bareReleasePatch, releasePatch } from "../../../../../lib/placement/decide/patch/release_patch.ts";
import { annotationsOf, applied, ARM64, gatesOf, type Json, make, requiredOf, running } from "../make.ts";

/** What the API server counts, and the most it accepts. */
const API_LIMIT = 262_144;

function bytesOf(annotations: Json): number {
  const utf8 = new TextEncoder();
  return Object.entries(annotations).reduce((sum, [key, value]) => sum + utf8.encode(key + String(value)).length, 0);
}

function annotationsOfSize(bytes: number): Json {
  const key = "note";
  const rest = bytes - key.length;
  return { [key]: "é".repeat(Math.floor(rest / 2)) + "x".repeat(rest % 2) };
}

const SCORING = make.configs(make.clusterConfig({ platforms: [make.platform(ARM64, 50)] }));
const sizes = fc.oneof(
  fc.integer({ min: 100, max: API_LIMIT }),
  fc.integer({ min: MAX_ANNOTATION_BYTES - 2_500, max: MAX_ANNOTATION_BYTES + 10 }),
  fc.integer({ min: API_LIMIT - 200, max: API_LIMIT }),
);

Deno.test("admissionPatch() places a pod with annotations of any size that the API server accepts, and keeps it acceptable", () => {
  fc.assert(fc.property(sizes, (bytes) => {
    const raw = make.pod({}, { annotations: annotationsOfSize(bytes) });
    const pod = make.view(raw);
    assert.equal(pod.annotationBytes, bytes);
    const verdict = judgeAdmission(make.admission(pod, { configs: SCORING, known: [make.image("multi")] }));
    assert.equal(verdict.kind, "place");
    const after = applied(raw, admissionPatch(pod, verdict));
    assert.ok(bytesOf(annotationsOf(after)) <= Math.max(bytes, MAX_ANNOTATION_BYTES));
    assert.notEqual(requiredOf(after), undefined);
  }));
});

Deno.test("releasePatch() and bareReleasePatch() keep the annotations acceptable, whatever their size", () => {
  fc.assert(fc.property(sizes, fc.constantFrom("multi", "broken"), (bytes, image) => {
    const raw = make.gatedPod(running(image), { annotations: annotationsOfSize(bytes) });
    const facts = make.facts(raw, { configs: SCORING, gateAgeMs: 60_000 });
    for (const patch of [releasePatch(facts.pod, decide(facts)), bareReleasePatch(facts.pod, "x".repeat(300))]) {
      const after = applied(raw, patch);
      assert.ok(bytesOf(annotationsOf(after)) <= Math.max(bytes, MAX_ANNOTATION_BYTES));
      assert.deepEqual(gatesOf(after), []);
    }
  }));
});

Deno.test("admissionPatch() leaves out the record before the audit of preferences", () => {
  const raw = make.pod({}, { annotations: annotationsOfSize(MAX_ANNOTATION_BYTES - 200) });
  const pod = make.view(raw);
  const verdict = judgeAdmission(make.admission(pod, { configs: SCORING, known: [make.image("multi")] }));
  const names = Object.keys(annotationsOf(applied(raw, admissionPatch(pod, verdict))));
  assert.deepEqual(names, ["note", "multiarch.openshift.io/preferred-affinity-sources"]);
});
