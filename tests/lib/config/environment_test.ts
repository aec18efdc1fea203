import assert from "node:assert/strict";
import { warningsOf } from "../../../lib/config/environment.ts";
import { environmentName, FLAGS } from "../../../lib/config/flags.ts";

const CASES: readonly (readonly [name: string, isIgnored: boolean])[] = [
  ["ARCHWAY_MAX_GATE_AG", true],
  ["ARCHWAY_MAXGATEAGE", true],
  ["ARCHWAY_", true],
  ["ARCHWAY_REGISTRY_PORTS", true],
  ["HOME", false],
  ["MY_ARCHWAY_THING", false],
  ["ARCHWAY_WEBHOOK_SERVICE_HOST", false],
  ["ARCHWAY_WEBHOOK_SERVICE_PORT", false],
  ["ARCHWAY_WEBHOOK_SERVICE_PORT_HTTPS", false],
  ["ARCHWAY_METRICS_PORT", false],
  ["ARCHWAY_METRICS_PORT_8080_TCP", false],
  ["ARCHWAY_METRICS_PORT_8080_TCP_ADDR", false],
  ["ARCHWAY_METRICS_PORT_8080_TCP_PORT", false],
  ["ARCHWAY_METRICS_PORT_8080_TCP_PROTO", false],
  ["ARCHWAY_TEST_NODES", false],
  ["ARCHWAY_HOSTS_DIR", false],
  ...FLAGS.map(({ name }): readonly [string, boolean] => [environmentName(name), false]),
];

Deno.test("warningsOf() names each variable that no flag has, and none that Kubernetes sets for a Service", () => {
  for (const [name, isIgnored] of CASES) {
    const warnings = warningsOf([name]);
    assert.equal(warnings.length, isIgnored ? 1 : 0, name);
    if (isIgnored) assert.ok(warnings[0]?.startsWith(`Ignored the variable ${name}: no flag has it.`), name);
  }
});
