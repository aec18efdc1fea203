// What the webhook routes have in common: one load limit, and answers to what they do not parse.
import assert from "node:assert/strict";
import { WebhookPath } from "../../lib/names.ts";
import type { LoadLimit } from "../../lib/server/load_limit.ts";
import { MAX_STRUCTURE } from "../../lib/json.ts";
import { webhookApp } from "../../routes/mod.ts";
import { makeGateDeps } from "./gate_deps.ts";
import { MemoryCluster } from "../support/memory_kube_api.ts";

function openApp(limit: LoadLimit): ReturnType<typeof webhookApp> {
  return webhookApp({
    gate: makeGateDeps({ limit }),
    check: {
      api: new MemoryCluster().client(),
      siblings: { read: () => Promise.resolve([]) },
      signal: new AbortController().signal,
    },
  });
}

async function statuses(limit: LoadLimit, body: string): Promise<readonly number[]> {
  const app = openApp(limit);
  const paths = Object.values(WebhookPath);
  return await Promise.all(paths.map(async (path) => (await app.request(path, { method: "POST", body })).status));
}

Deno.test("webhookApp() counts the reviews of every route against one limit", async () => {
  assert.deepEqual(await statuses({ enter: () => undefined }, "{}"), [503, 503, 503, 503]);
  const entered: number[] = [];
  await statuses({
    enter: (bytes) => {
      entered.push(bytes);
      return () => {};
    },
  }, "{}");
  assert.deepEqual(entered, [2, 2, 2, 2]);
});

Deno.test("webhookApp() parses on no route what has too many members", async () => {
  const body = `{"kind":"X","apiVersion":"v1","request":{"uid":"u","objects":[${"{},".repeat(MAX_STRUCTURE)}{}]}}`;
  assert.deepEqual(await statuses({ enter: () => () => {} }, body), [200, 413, 413, 413]);
});
