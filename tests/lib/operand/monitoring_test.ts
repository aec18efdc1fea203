import assert from "node:assert/strict";
import { isCovered, offersMonitoring, renderMonitoring } from "../../../lib/operand/monitoring.ts";
import { makeOperandConfig, stored } from "./make.ts";

const [MONITOR, RULE] = renderMonitoring(makeOperandConfig(), { namespace: "ns", deploymentName: "archway" });

Deno.test("218 renderMonitoring() scrapes our namespace and keeps the names of the alerts", () => {
  assert.equal(MONITOR?.kind, "ServiceMonitor");
  assert.match(JSON.stringify(MONITOR?.spec), /"matchNames":\["ns"\]/);
  assert.equal(RULE?.metadata.name, "multiarch-tuning-operator");
  const alerts = [...JSON.stringify(RULE?.spec).matchAll(/"alert":"(\w+)"/g)].map(([, name]) => name);
  assert.deepEqual(alerts, ["PodPlacementControllerDown", "PodPlacementWebhookDown", "PodPlacementGatingStopped"]);
});

Deno.test("218 isCovered() sees drift in what we set and nothing else", () => {
  assert.ok(RULE !== undefined);
  assert.ok(isCovered(stored(RULE, (json) => json.replace('"spec":{', '"spec":{"theirs":1,')), RULE));
  assert.ok(!isCovered(stored(RULE, (json) => json.replace('"1m"', '"9m"')), RULE));
  assert.ok(!isCovered(stored(RULE, (json) => json.replace('"u-1"', '"u-0"')), RULE));
});

Deno.test("B6 218 offersMonitoring() asks for both kinds", () => {
  const kinds = (...names: readonly string[]): unknown => ({ resources: names.map((kind) => ({ kind })) });
  assert.ok(offersMonitoring(kinds("ServiceMonitor", "PrometheusRule", "Probe")));
  assert.ok(!offersMonitoring(kinds("PrometheusRule")));
  assert.ok(!offersMonitoring({}) && !offersMonitoring(undefined) && !offersMonitoring("x"));
});
