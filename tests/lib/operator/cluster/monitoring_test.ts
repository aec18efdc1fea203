import assert from "node:assert/strict";
import { isCovered, offersMonitoring, renderMonitoring } from "../../../../lib/operator/cluster/monitoring.ts";
import { makeOperandConfig, stored } from "../decide/make.ts";

const RUNBOOK = "manifests/monitoring/runbooks.md#podplacementcontrollerdown";
const [MONITOR, RULE] = renderMonitoring(makeOperandConfig(), { namespace: "ns", runbookBaseUrl: "" });

Deno.test("218 renderMonitoring() keeps the names of the MTO's alerts that still mean something", () => {
  assert.equal(MONITOR?.kind, "ServiceMonitor");
  const alerts = [...JSON.stringify(RULE?.spec).matchAll(/"alert":"(\w+)"/g)].map(([, name]) => name);
  assert.deepEqual(alerts.slice(0, 2), ["PodPlacementControllerDown", "PodPlacementWebhookDown"]);
});

Deno.test("renderMonitoring() leads to runbooks wherever the repository can be read, slash or not", () => {
  for (
    const runbookBaseUrl of ["https://git.example.com/archway/blob/main/", "https://git.example.com/archway/blob/main"]
  ) {
    const [, rule] = renderMonitoring(makeOperandConfig(), { namespace: "ns", runbookBaseUrl });
    assert.ok(JSON.stringify(rule?.spec).includes(`"https://git.example.com/archway/blob/main/${RUNBOOK}"`));
  }
});

Deno.test("218 isCovered() sees drift in what we set and nothing else", () => {
  assert.ok(RULE !== undefined);
  assert.ok(isCovered(stored(RULE, (json) => json.replace('"spec":{', '"spec":{"theirs":1,')), RULE));
  assert.ok(!isCovered(stored(RULE, (json) => json.replace('"1m"', '"9m"')), RULE));
  assert.ok(!isCovered(stored(RULE, (json) => json.replace('"u-1"', '"u-0"')), RULE));
});

Deno.test("218 offersMonitoring() asks for both kinds", () => {
  const kinds = (...names: readonly string[]): unknown => ({ resources: names.map((kind) => ({ kind })) });
  assert.ok(offersMonitoring(kinds("ServiceMonitor", "PrometheusRule", "Probe")));
  assert.ok(!offersMonitoring(kinds("PrometheusRule")));
  assert.ok(!offersMonitoring({}) && !offersMonitoring(undefined) && !offersMonitoring("x"));
});
