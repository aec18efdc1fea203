// What a circuit says while it holds requests back.
import assert from "node:assert/strict";
import { Circuit } from "../../../../lib/oci/limits/circuit.ts";
import { HealthReporter } from "../../../../lib/oci/limits/health_reporter.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { annotationText } from "../../../../lib/placement/decide/failure_advice.ts";
import { FakeClock } from "../../../support/fake_clock.ts";

Deno.test("a circuit that is open names the cause first, so that a pod's annotation has it", () => {
  const clock = new FakeClock();
  const registry = "registry.example.com";
  const reporter = new HealthReporter({ clock, log: silentLogger, declared: [] });
  const circuit = new Circuit({ registry, repositories: "platform" }, reporter, clock);
  const image = `${registry}/platform/payments-checkout:v1.24.3`;
  const url = `${registry}/v2/platform/payments-checkout/manifests/v1.24.3`;
  for (let at = 0; at < 5; at++) circuit.failed(`Cannot read "${url}": the registry takes no connections.`);
  const failure = circuit.refusal()?.failure;
  assert.ok(failure);
  assert.match(annotationText({ image, failure }), /^CircuitOpen: Cannot inspect .*takes no connections/);
});
