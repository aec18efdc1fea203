import assert from "node:assert/strict";
import { WebhookPath } from "../../lib/names.ts";
import type { LoadLimit } from "../../lib/server/load_limit.ts";
import { MAX_STRUCTURE } from "../../lib/json.ts";
import { webhookApp } from "../../routes/mod.ts";
import { makeGateDeps } from "./gate_deps.ts";
import { MemoryCluster } from "../support/memory_kube_api.ts";

async function statuses(
  { pods, others }: Readonly<Record<"pods" | "others", LoadLimit>>,
  body: string,
): Promise<readonly number[]> {
  const siblings = { read: () => Promise.resolve([]) };
  const check = { api: new MemoryCluster().api, siblings, signal: new AbortController().signal };
  const app = webhookApp({ gate: makeGateDeps({ limit: pods }), otherLimit: others, check });
  const paths = Object.values(WebhookPath);
  return await Promise.all(paths.map(async (path) => (await app.request(path, { method: "POST", body })).status));
}

const FULL: LoadLimit = { enter: () => undefined };
const FREE: LoadLimit = { enter: () => () => {} };

Deno.test("webhookApp() has a limit for the reviews of pods, and one for those of all other routes", async () => {
  assert.deepEqual(await statuses({ pods: FULL, others: FULL }, "{}"), [503, 503, 503, 503]);
  assert.deepEqual(await statuses({ pods: FREE, others: FULL }, "{}"), [400, 503, 503, 503]);
  const entered: number[] = [];
  const others: LoadLimit = {
    enter: (bytes) => {
      entered.push(bytes);
      return () => {};
    },
  };
  assert.deepEqual(await statuses({ pods: FULL, others }, "{}"), [503, 400, 400, 400]);
  assert.deepEqual(entered, [2, 2, 2]);
});

Deno.test("webhookApp() parses on no route what has too many members", async () => {
  const body = `{"kind":"X","apiVersion":"v1","request":{"uid":"u","objects":[${"{},".repeat(MAX_STRUCTURE)}{}]}}`;
  assert.deepEqual(await statuses({ pods: FREE, others: FREE }, body), [200, 413, 413, 413]);
});
