import assert from "node:assert/strict";
import fc from "fast-check";
import { MAX_ANNOTATION_BYTES } from "../../../../../lib/placement/decide/patch/pod_patch.ts";
import { bareReleasePatch } from "../../../../../lib/placement/decide/patch/decision_patch.ts";
import { admit, applied, ARM64, endOf, type Json, make, running, settle } from "../make.ts";

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

/** An admission that places a pod of the image `multi`, and adds preferences. */
const WARM = {
  configs: make.configs(make.clusterConfig({ platforms: [make.platform(ARM64, 50)] })),
  known: [make.image("multi")],
};
const sizes = fc.oneof(
  fc.integer({ min: 100, max: API_LIMIT }),
  fc.integer({ min: MAX_ANNOTATION_BYTES - 2_500, max: MAX_ANNOTATION_BYTES + 10 }),
  fc.integer({ min: API_LIMIT - 200, max: API_LIMIT }),
);

Deno.test("admissionPatch() places a pod with annotations of any size that the API server accepts, and keeps it acceptable", () => {
  fc.assert(fc.property(sizes, (bytes) => {
    const raw = make.pod({}, { annotations: annotationsOfSize(bytes) });
    const { pod, verdict, annotations, required } = admit(raw, WARM);
    assert.equal(pod.annotationBytes, bytes);
    assert.equal(verdict.kind, "place");
    assert.ok(bytesOf(annotations) <= Math.max(bytes, MAX_ANNOTATION_BYTES));
    assert.notEqual(required, undefined);
  }));
});

Deno.test("decisionPatch() and bareReleasePatch() keep the annotations acceptable, whatever their size", () => {
  fc.assert(fc.property(sizes, fc.constantFrom("multi", "broken"), (bytes, image) => {
    const raw = make.gatedPod(running(image), { annotations: annotationsOfSize(bytes) });
    const { pod, after: full } = settle(raw, { configs: WARM.configs, gateAgeMs: 60_000 });
    for (const after of [full, applied(raw, bareReleasePatch(pod, "x".repeat(300)))]) {
      const { annotations, gates } = endOf(after);
      assert.ok(bytesOf(annotations) <= Math.max(bytes, MAX_ANNOTATION_BYTES));
      assert.deepEqual(gates, []);
    }
  }));
});

Deno.test("admissionPatch() leaves out the record before the audit of preferences", () => {
  const raw = make.pod({}, { annotations: annotationsOfSize(MAX_ANNOTATION_BYTES - 200) });
  assert.deepEqual(Object.keys(admit(raw, WARM).annotations), [
    "note",
    "multiarch.openshift.io/preferred-affinity-sources",
  ]);
});
