// The webhook port under load by clients that do not have its path, on a real control plane: the API server's own reviews
// go on, no pod passes ungated for it, and memory stays bounded. `deno task attack` does the same at full strength.
import assert from "node:assert/strict";
import { measureAttack } from "../bench/attack_bed.ts";
import { WebhookPath } from "../../lib/names.ts";
import { waitUntil } from "./support/wait.ts";
import { readSecretPath } from "./support/webhook_path.ts";
import { openWorkingBed } from "./support/walk_bed.ts";
import { connectRaw, renderPost } from "../bench/raw_client.ts";

/** The target is three times the quiet p99; below this a p99 of some hundred reviews says little on a busy machine. */
const LEAST_P99_MS = 200;
const MAX_RSS_MB = 450;
const PART = { idle: 2_000, halves: 400, bodies: 10, perSecond: 200, seconds: 10 } as const;

Deno.test("webhook port: other clients neither slow the API server's reviews, nor ungate pods, nor fill the memory", async () => {
  const results = await measureAttack(PART, ["other addresses", "the API server's address"]);
  const text = JSON.stringify(results);
  assert.equal(Object.keys(results).length, 2);
  for (const { quiet, attacked } of Object.values(results)) {
    assert.deepEqual([quiet.ungated, attacked.ungated], [0, 0], text);
    assert.ok(attacked.maxRssMb <= MAX_RSS_MB, text);
    assert.ok(attacked.p99Ms <= Math.max(3 * quiet.p99Ms, LEAST_P99_MS), text);
  }
});

Deno.test("webhook port: only the path that the configurations carry is answered, and it is in no log or page", async () => {
  await using bed = await openWorkingBed();
  const { archway, controlPlane } = bed;
  const path = await readSecretPath(controlPlane);
  // A new process has never seen a configuration with a plain path.
  await archway.stop();
  await archway.restart();
  const ask = async (target: string): Promise<number> => {
    using client = await connectRaw(archway.webhookPort, archway.caPem);
    await client.write(renderPost(target, "{}"));
    return (await client.read()).status;
  };
  await waitUntil("plain paths to be refused", async () => await ask(WebhookPath.gatePod) === 404);
  assert.equal(await ask(path), 400);
  assert.equal(await ask(`/${"x".repeat(43)}${WebhookPath.gatePod}`), 404);
  assert.equal(await ask(path.replace(WebhookPath.gatePod, WebhookPath.convert)), 404);
  const segment = path.split("/")[1] ?? "";
  const dashboard = await (await fetch(`${archway.adminUrl}/`)).text();
  for (const text of [JSON.stringify(await archway.logs()), await archway.metrics(), dashboard]) {
    assert.ok(!text.includes(segment));
  }
});
