// The explanation of a pod, from what stands on it. Source: peers ideas I1, I2.
import assert from "node:assert/strict";
import { decide } from "../../../lib/placement/decide.ts";
import { explainPod } from "../../../lib/placement/explain.ts";
import { releasePatch } from "../../../lib/placement/release_patch.ts";
import type { PlacementFacts } from "../../../lib/placement/types.ts";
import { applied, cluster, configs, container, factsOf, gatedPod, type Json, podOf, R, rawPod, weigh } from "./make.ts";

function explained(raw: Json, changes: Partial<PlacementFacts> = {}): string {
  const facts = factsOf(raw, changes);
  return explainPod(podOf(applied(raw, releasePatch(facts.pod, decide(facts))))).join("\n");
}

Deno.test("explainPod() tells of a placed pod which image supports what", () => {
  const text = explained(gatedPod(), { configs: configs(cluster({ platforms: [weigh(R, 5)] })) });
  assert.match(text, /Released: the scheduler decides/);
  assert.match(text, /share \{amd64, arm64\}/);
  assert.match(text, /multi @ sha256:0{64}: amd64, arm64 \(registry\)/);
  assert.match(text, /Preferences: arm64:5:ClusterPodPlacementConfig/);
});

Deno.test("explainPod() tells of a waiting pod how often it failed and why", () => {
  const text = explained(gatedPod({ containers: [container("broken")] }));
  assert.match(text, /Waiting/);
  assert.match(text, /Inspection fails \(count 1\): .*broken/);
});

Deno.test("explainPod() tells of foreign gates and of pods it does not know", () => {
  assert.match(
    explained(gatedPod({ schedulingGates: [{ name: "multiarch.openshift.io/scheduling-gate" }, { name: "kueue" }] })),
    /held by kueue/,
  );
  assert.match(explainPod(podOf(rawPod())).join("\n"), /Unknown to Archway/);
});
