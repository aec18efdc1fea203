import assert from "node:assert/strict";
import { reportsOf } from "../../../../lib/placement/decide/report/reports.ts";
import { AMD64, ARCH, ARM64, type Json, labelsOf, make, mark, released, requiredOf, running } from "./make.ts";

/** A gated pod that carries the terms and the record of an earlier decision, and an image that cannot be inspected. */
function placedBefore(...architectures: readonly string[]): Json {
  const record = JSON.stringify({ v: 1, d: "place", a: architectures, i: [] });
  const affinity = make.nodeAffinity([make.term([ARCH, ...architectures])]);
  return make.gatedPod({ ...running("broken"), affinity }, { annotations: { "archway.dev/decision": record } });
}

function settle(raw: Json, fallback?: string): { readonly kind: string; readonly after: Json; readonly said: string } {
  const all = make.configs(make.clusterConfig(fallback === undefined ? {} : { fallback }));
  const facts = make.facts(raw, { configs: all, gateAgeMs: 60_000 });
  const { decision, after } = released(raw, facts);
  const [report] = reportsOf(facts.pod, { kind: "applied", decision });
  return { kind: decision.kind, after, said: report?.message ?? "" };
}

Deno.test("decide() keeps an earlier requirement of Archway that does not include the fallback architecture", () => {
  const { kind, after, said } = settle(placedBefore(AMD64), ARM64);
  assert.equal(kind, "release");
  assert.deepEqual(requiredOf(after), [make.term([ARCH, AMD64])]);
  assert.equal(labelsOf(after)[mark("node-affinity")], "set");
  assert.equal(labelsOf(after)[mark("fallback-arch")], undefined);
  assert.match(said, /; released with the requirement that an earlier decision set: \{amd64\}\./);
});

Deno.test("decide() narrows an earlier requirement of Archway to the fallback architecture that it includes", () => {
  const { kind, after } = settle(placedBefore(AMD64, ARM64), ARM64);
  assert.equal(kind, "fallback");
  assert.deepEqual(requiredOf(after), [make.term([ARCH, AMD64, ARM64], [ARCH, ARM64])]);
});

Deno.test("decide() reports what still constrains a pod that is released without a fallback", () => {
  const { kind, after, said } = settle(placedBefore(AMD64));
  assert.equal(kind, "release");
  assert.deepEqual(requiredOf(after), [make.term([ARCH, AMD64])]);
  assert.match(said, /\{amd64\}/);
});
