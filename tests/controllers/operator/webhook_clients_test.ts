import assert from "node:assert/strict";
import { chooseWebhookPaths, TERMINATING_MS } from "../../../controllers/operator/webhook_clients.ts";
import { OperatorMemory } from "../../../controllers/operator/operator_memory.ts";
import { WebhookPath } from "../../../lib/names.ts";
import { openBench, SETTINGS, webhookText } from "./make.ts";
import type { OperatorSettings } from "../../../controllers/operator/deps.ts";

const DEPLOYED: OperatorSettings = { ...SETTINGS, deploymentName: "archway" };
const DONE = { available: true, upToDate: true, uniform: true };
const MIXED = { available: true, upToDate: false, uniform: false };

function choose(
  rows: readonly (readonly [nowMs: number, rollout: typeof DONE])[],
  { settings = DEPLOYED, isInUse = false, hasSecret = true } = {},
): readonly string[] {
  const memory = new OperatorMemory();
  const secretPaths = {
    isKnown: () => true,
    isInUse: () => isInUse,
    pathOf: (route: string) => hasSecret ? `/s${route}` : undefined,
  };
  return rows.map(([nowMs, rollout]) => {
    const { pathOf, retryMs } = chooseWebhookPaths({ secretPaths, settings, memory }, rollout, nowMs);
    return retryMs === undefined ? pathOf("/x") : `${pathOf("/x")} ${retryMs}`;
  });
}

Deno.test("chooseWebhookPaths() waits until older replicas are gone and have terminated", () => {
  const rows = [[0, MIXED], [10, DONE], [TERMINATING_MS, DONE], [TERMINATING_MS + 10, DONE]] as const;
  assert.deepEqual(choose(rows), ["/x", `/x ${TERMINATING_MS}`, "/x 10", "/s/x"]);
  const again = [[0, DONE], [TERMINATING_MS, MIXED], [TERMINATING_MS + 1, DONE]] as const;
  assert.deepEqual(choose(again), [`/x ${TERMINATING_MS}`, "/x", `/x ${TERMINATING_MS}`]);
});

Deno.test("chooseWebhookPaths() keeps a secret path that is in use, also during a roll-out", () => {
  assert.deepEqual(choose([[0, MIXED]], { isInUse: true }), ["/s/x"]);
});

Deno.test("chooseWebhookPaths() waits for no replica without a Deployment, and has plain paths without a secret", () => {
  assert.deepEqual(choose([[0, DONE]], { settings: SETTINGS }), ["/s/x"]);
  assert.deepEqual(choose([[0, DONE], [TERMINATING_MS, DONE]], { hasSecret: false }), [`/x ${TERMINATING_MS}`, "/x"]);
  const { pathOf } = chooseWebhookPaths(
    { secretPaths: undefined, settings: DEPLOYED, memory: new OperatorMemory() },
    DONE,
    0,
  );
  assert.equal(pathOf("/x"), "/x");
});

Deno.test("the operator writes no paths before it is known what the configurations carry", async () => {
  const known = { value: false };
  await using bench = await openBench({
    secretPaths: { isKnown: () => known.value, isInUse: () => true, pathOf: (route) => `/s${route}` },
  });
  await bench.createConfig();
  bench.start();
  assert.equal(await webhookText(bench), "");
  known.value = true;
  const path = `"path":"/s${WebhookPath.gatePod}"`;
  await bench.until("the webhook to carry the secret path", async () => (await webhookText(bench)).includes(path));
});
