import assert from "node:assert/strict";
import { sumSamples } from "./metric_samples.ts";
import { ProcessMetrics } from "./process_metrics.ts";

async function textOf(): Promise<string> {
  const metrics = new ProcessMetrics();
  for (const kind of ["place", "place", "retry"] as const) metrics.placement.decision(kind);
  metrics.placement.gateReleased(1_000);
  return await metrics.text({ gatedPods: 3 });
}

Deno.test("sumSamples() sums what has the labels, and gives 0 where the metric has no such sample", async () => {
  const text = await textOf();
  assert.equal(sumSamples(text, { metric: "mto_ppo_pods_gated" }), 3);
  assert.equal(sumSamples(text, { metric: "archway_decisions_total" }), 3);
  assert.equal(sumSamples(text, { metric: "archway_decisions_total", labels: { kind: "place" } }), 2);
  assert.equal(sumSamples(text, { metric: "archway_gate_age_seconds_count" }), 1);
  assert.equal(sumSamples(text, { metric: "archway_registry_circuit_open", labels: { host: "a.example" } }), 0);
});

Deno.test("sumSamples() throws where no metric has the name, so that a wrong name does not read as 0", async () => {
  const text = await textOf();
  for (const metric of ["archway_gated_pods", "archway_decisions", "mto_ppo_pods_gated_count", ""]) {
    assert.throws(() => sumSamples(text, { metric }), /there is none of that name/);
  }
  assert.throws(() => sumSamples("", { metric: "archway_leader" }), /"archway_leader"/);
});
