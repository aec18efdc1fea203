import assert from "node:assert/strict";
import { podEventsOf } from "../../../../lib/placement/decide/events/pod_events.ts";
import { AMD64, ARCH, ARM64, type Json, make, running, settle } from "./make.ts";

/** A gated pod that carries the terms and the record of an earlier decision, and an image that cannot be inspected. */
function placedBefore(...architectures: readonly string[]): Json {
  const record = JSON.stringify({ v: 1, d: "place", a: architectures, i: [] });
  const affinity = make.nodeAffinity([make.term([ARCH, ...architectures])]);
  return make.gatedPod({ ...running("broken"), affinity }, { annotations: { "archway.dev/decision": record } });
}

const giveUp = (raw: Json, config: Parameters<typeof make.clusterConfig>[0] = {}) => {
  const outcome = settle(raw, { configs: make.configs(make.clusterConfig(config)), gateAgeMs: 60_000 });
  const [report] = podEventsOf(outcome.pod, { kind: "applied", decision: outcome.decision });
  return { ...outcome, kind: outcome.decision.kind, said: report?.message ?? "" };
};

Deno.test("decide() keeps an earlier requirement of Archway that does not include the fallback architecture", () => {
  const { kind, required, marks, said } = giveUp(placedBefore(AMD64), { fallback: ARM64 });
  assert.equal(kind, "release");
  assert.deepEqual(required, [make.term([ARCH, AMD64])]);
  assert.equal(marks["node-affinity"], "set");
  assert.equal(marks["fallback-arch"], undefined);
  assert.match(said, /; released with the requirement that an earlier decision set: \{amd64\}\./);
});

Deno.test("decide() narrows an earlier requirement of Archway to the fallback architecture that it includes", () => {
  const { kind, required } = giveUp(placedBefore(AMD64, ARM64), { fallback: ARM64 });
  assert.equal(kind, "fallback");
  assert.deepEqual(required, [make.term([ARCH, AMD64, ARM64], [ARCH, ARM64])]);
});

Deno.test("decide() reports what still constrains a pod that is released without a fallback", () => {
  const { kind, required, said } = giveUp(placedBefore(AMD64));
  assert.equal(kind, "release");
  assert.deepEqual(required, [make.term([ARCH, AMD64])]);
  assert.match(said, /\{amd64\}/);
});
