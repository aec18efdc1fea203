// Whose the terms of a pod are: a record counts only with terms that look as Archway writes them for it.
import assert from "node:assert/strict";
import { decide } from "../../../../lib/placement/decide.ts";
import { ownRequirement } from "../../../../lib/placement/patch/own_terms.ts";
import { releasePatch } from "../../../../lib/placement/patch/release_patch.ts";
import { A, applied, ARCH, factsOf, gatedPod, type Json, nodeAffinity, podOf, R, requiredOf, term } from "../make.ts";

function recorded(decision: string, architectures: readonly string[], terms?: readonly Json[]): Json {
  const record = JSON.stringify({ v: 1, d: decision, a: architectures, i: [] });
  const spec = terms === undefined ? {} : { affinity: nodeAffinity(terms) };
  return gatedPod(spec, { annotations: { "archway.dev/decision": record } });
}

for (
  const [title, raw] of [
    ["no architectures, on a pod without affinity", recorded("place", [])],
    ["no architectures, on a pod with an empty list of terms", recorded("place", [], [])],
    ["no architectures, on a pod with a term of the user", recorded("place", [], [term(["zone", "z"])])],
    ["architectures that no term carries", recorded("place", [A], [term([ARCH, R])])],
    ["architectures that the terms name more than once", recorded("place", [A, R], [term([ARCH, A]), term([ARCH, A])])],
    ["a release", recorded("release", [A], [term([ARCH, A])])],
  ] as const
) {
  Deno.test(`ownRequirement() is undefined for a record of ${title}`, () => {
    assert.equal(ownRequirement(podOf(raw)), undefined);
  });
}

Deno.test("ownRequirement() tells the term that carries the record from the user's", () => {
  const [ours, users] = [term(["zone", "z"], [ARCH, A, R]), term([ARCH, A])];
  const own = ownRequirement(podOf(recorded("place", [A, R], [ours, users])));
  assert.deepEqual(own?.architecturesOf(own === undefined ? {} : ours), [A, R]);
  assert.equal(own?.architecturesOf(users), undefined);
});

Deno.test("ownRequirement() finds the terms among which the recorded architectures are shared out", () => {
  const terms = [term([ARCH, R]), term([ARCH, A], ["level", "v3"])];
  const pod = podOf(recorded("place", [A, R], terms));
  const own = ownRequirement(pod);
  assert.deepEqual((pod.requiredTerms ?? []).map((one) => own?.architecturesOf(one)), [[R], [A]]);
});

Deno.test("decide() places a pod that brings an empty record by its images", () => {
  const raw = recorded("place", []);
  const facts = factsOf(raw);
  assert.deepEqual(requiredOf(applied(raw, releasePatch(facts.pod, decide(facts)))), [term([ARCH, A, R])]);
});
