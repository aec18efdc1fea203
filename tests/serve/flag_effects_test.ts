// Every flag of `serve` and every setting of its file has one check that shows its effect, and none is without. And what the
// process started for them exposes about its Kubernetes client.
import assert from "node:assert/strict";
import { FILE_SETTINGS } from "../../lib/config/file.ts";
import { FLAGS } from "../../lib/config/flags.ts";
import { CAPABILITY_FLAGS, CAPABILITY_SETTINGS } from "./flag_effects/capability_checks.ts";
import { PLACEMENT_FLAGS, PLACEMENT_SETTINGS } from "./flag_effects/placement_checks.ts";
import { PROCESS_FLAGS, PROCESS_SETTINGS } from "./flag_effects/process_checks.ts";
import { REGISTRY_FLAGS, REGISTRY_SETTINGS } from "./flag_effects/registry_checks.ts";
import { served } from "./flag_effects/served.ts";
import type { Checks } from "./flag_effects/support.ts";
import { TAINT_FLAGS, TAINT_SETTINGS } from "./flag_effects/taint_checks.ts";

const FLAG_CHECKS: Checks = {
  ...PROCESS_FLAGS,
  ...PLACEMENT_FLAGS,
  ...REGISTRY_FLAGS,
  ...TAINT_FLAGS,
  ...CAPABILITY_FLAGS,
};
const SETTING_CHECKS: Checks = {
  ...PROCESS_SETTINGS,
  ...PLACEMENT_SETTINGS,
  ...REGISTRY_SETTINGS,
  ...TAINT_SETTINGS,
  ...CAPABILITY_SETTINGS,
};

Deno.test("every flag of serve has a check of its effect, and every check a flag", () => {
  const names = FLAGS.filter(({ commands }) => commands.includes("serve")).map(({ name }) => name);
  assert.deepEqual(Object.keys(FLAG_CHECKS).sort(), names.toSorted());
});

Deno.test("every setting of the file has a check of its effect, and every check a setting", () => {
  assert.deepEqual(Object.keys(SETTING_CHECKS).sort(), FILE_SETTINGS.map(({ key }) => String(key)).sort());
});

for (const [name, check] of Object.entries(FLAG_CHECKS)) {
  Deno.test(`serve --${name} has an effect that differs from its default`, async () => await check());
}

for (const [key, check] of Object.entries(SETTING_CHECKS)) {
  Deno.test(`the setting ${key} of --config has an effect that differs from its default`, async () => await check());
}

Deno.test("serve exposes the work queue of each controller, and its requests to the API server", async () => {
  const { metrics } = await served();
  const queues = [...metrics.matchAll(/^workqueue_adds_total\{name="([^"]+)"\} /gm)].map(([, name]) => name);
  assert.equal(queues.sort().join(" "), "audit daemonsets gate-fail-open operator pod-placement prewarm");
  const requestsBy = (method: string, code: string): number => {
    const line = `rest_client_requests_total{code="${code}",method="${method}"} `;
    return Number(metrics.split("\n").find((one) => one.startsWith(line))?.slice(line.length));
  };
  assert.ok(requestsBy("GET", "200") > 5, "lists and watches");
  assert.ok(requestsBy("POST", "201") > 0, "the Lease, the webhook configuration");
  assert.match(metrics, /^workqueue_adds_total\{name="operator"\} [1-9]/m);
});
