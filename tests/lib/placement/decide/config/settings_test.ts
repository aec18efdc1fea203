import type { InspectedImage } from "../../../../../lib/oci/inspection.ts";
import assert from "node:assert/strict";
import { parseArchTaint } from "../../../../../lib/placement/decide/config/arch_taints.ts";
import { parseVariantLabel, type VariantLabel } from "../../../../../lib/placement/decide/config/settings.ts";
import { planTolerations } from "../../../../../lib/placement/decide/patch/tolerations.ts";
import type { ArchTaint } from "../../../../../lib/vocabulary/taint.ts";
import { AMD64, ARCH, ARM64, type Json, make, running, settle, valueOf } from "../make.ts";

const taint = (text: string): ArchTaint => valueOf(parseArchTaint(text));
const label = (text: string): VariantLabel => valueOf(parseVariantLabel(text));

Deno.test("parseArchTaint() refuses what is neither a preset nor KEY=arch with a known effect", () => {
  for (const odd of ["", "x", "=arch", "a b=arch", "k=arch:Never", "constructor"]) {
    assert.equal(parseArchTaint(odd).kind, "unparsable", odd);
  }
});

Deno.test("planTolerations() adds what is missing and recognises blanket tolerations", () => {
  const plan = (tolerations: unknown): readonly string[] =>
    planTolerations(make.view(make.pod({ tolerations })), [AMD64, ARM64], [taint("gke")])
      .map(({ value }) => value);
  assert.deepEqual(plan(undefined), [AMD64, ARM64]);
  assert.deepEqual(plan([{ operator: "Exists" }]), []);
  assert.deepEqual(plan([{ key: ARCH, operator: "Exists" }]), []);
  assert.deepEqual(plan([{ key: ARCH, value: ARM64 }]), [AMD64]);
  assert.deepEqual(plan([{ key: ARCH, operator: "Equal", value: ARM64, effect: "NoExecute" }]), [AMD64, ARM64]);
  assert.deepEqual(plan([{ key: "other", operator: "Exists" }]), [AMD64, ARM64]);
});

Deno.test("planTolerations() plans one toleration for two taints that are the same", () => {
  const plans = planTolerations(make.view(make.pod()), [AMD64], [taint("gke"), taint("ack")]);
  assert.equal(plans.length, 1);
});

Deno.test("parseVariantLabel() reads a label that exists or has one of some values", () => {
  const exists = { architecture: AMD64, variant: "v3", key: "example.com/v3", values: [] };
  assert.deepEqual(label("amd64/v3=example.com/v3"), exists);
  assert.deepEqual(label("amd64/v3=level=v3|v4").values, ["v3", "v4"]);
  for (const odd of ["", "amd64", "amd64/v3", "amd64/x=k", "/v3=k"]) {
    assert.equal(parseVariantLabel(odd).kind, "unparsable", odd);
  }
});

function requiredFor(
  images: readonly InspectedImage[],
  spec: Json = {},
  variantLabels = [label("amd64/v3=level=v3|v4")],
): unknown {
  const raw = make.gatedPod({ ...running(...images.map(({ image }) => image)), ...spec });
  return settle(raw, { images, settings: make.settings({ variantLabels }) }).required;
}

const levels = (image: string, ...variants: readonly (string | undefined)[]): InspectedImage =>
  make.imageOf(
    image,
    variants.map((variant) => ({ os: "linux", architecture: AMD64, ...(variant === undefined ? {} : { variant }) })),
  );

Deno.test("decide() requires the level label of the least level that all images can do with", () => {
  assert.deepEqual(requiredFor([levels("x", "v3", "v4"), levels("y", "v2")]), [
    make.term([ARCH, AMD64], ["level", "v3", "v4"]),
  ]);
});

Deno.test("decide() requires only the architecture where one platform has no level or no label is given", () => {
  assert.deepEqual(requiredFor([levels("x", "v3", undefined)]), [make.term([ARCH, AMD64])]);
  assert.deepEqual(requiredFor([levels("x", "v3")], {}, []), [make.term([ARCH, AMD64])]);
  assert.deepEqual(requiredFor([levels("x", "v4")]), [make.term([ARCH, AMD64])]);
});

Deno.test("decide() appends the level label to the pod's own terms", () => {
  const spec = { affinity: make.nodeAffinity([make.term(["foo", "bar"])]) };
  assert.deepEqual(requiredFor([levels("x", "v3")], spec), [
    make.term(["foo", "bar"], [ARCH, AMD64], ["level", "v3", "v4"]),
  ]);
});
