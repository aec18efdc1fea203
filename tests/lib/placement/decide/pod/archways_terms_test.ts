import assert from "node:assert/strict";
import { archwaysRequirement } from "../../../../../lib/placement/decide/pod/archways_terms.ts";
import { AMD64, ARCH, ARM64, type Json, make, settle } from "../make.ts";

function recorded(decision: string, architectures: readonly string[], terms?: readonly Json[]): Json {
  const record = JSON.stringify({ v: 1, d: decision, a: architectures, i: [] });
  const spec = terms === undefined ? {} : { affinity: make.nodeAffinity(terms) };
  return make.gatedPod(spec, { annotations: { "archway.dev/decision": record } });
}

for (
  const [title, raw] of [
    ["no architectures, on a pod without affinity", recorded("place", [])],
    ["no architectures, on a pod with an empty list of terms", recorded("place", [], [])],
    ["no architectures, on a pod with a term of the user", recorded("place", [], [make.term(["zone", "z"])])],
    ["architectures that no term carries", recorded("place", [AMD64], [make.term([ARCH, ARM64])])],
    [
      "architectures that the terms name more than once",
      recorded("place", [AMD64, ARM64], [make.term([ARCH, AMD64]), make.term([ARCH, AMD64])]),
    ],
    ["a release", recorded("release", [AMD64], [make.term([ARCH, AMD64])])],
  ] as const
) {
  Deno.test(`archwaysRequirement() is undefined for a record of ${title}`, () => {
    assert.equal(archwaysRequirement(make.view(raw)), undefined);
  });
}

Deno.test("archwaysRequirement() distinguishes the term that carries the record from the user's", () => {
  const [ours, users] = [make.term(["zone", "z"], [ARCH, AMD64, ARM64]), make.term([ARCH, AMD64])];
  const own = archwaysRequirement(make.view(recorded("place", [AMD64, ARM64], [ours, users])));
  assert.deepEqual(own?.architecturesOf(own === undefined ? {} : ours), [AMD64, ARM64]);
  assert.equal(own?.architecturesOf(users), undefined);
});

Deno.test("archwaysRequirement() finds the terms among which the recorded architectures are shared out", () => {
  const terms = [make.term([ARCH, ARM64]), make.term([ARCH, AMD64], ["level", "v3"])];
  const pod = make.view(recorded("place", [AMD64, ARM64], terms));
  const own = archwaysRequirement(pod);
  assert.deepEqual((pod.requiredTerms ?? []).map((one) => own?.architecturesOf(one)), [[ARM64], [AMD64]]);
});

Deno.test("decide() places a pod that brings an empty record by its images", () => {
  assert.deepEqual(settle(recorded("place", [])).required, [make.term([ARCH, AMD64, ARM64])]);
});
