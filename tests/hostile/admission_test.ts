// The webhook on its real TLS listener, in a process of its own, against 10 000 hostile reviews and many clients
// that only occupy places. tests/cluster/hostile_test.ts does the same to the whole service.
import assert from "node:assert/strict";
import { startServer, WEBHOOK_PATH } from "../bench/start_server.ts";
import { runAssault } from "./assault.ts";

/** Half of what the Deployment allows. */
const MAX_RSS = 384 * 1024 * 1024;

Deno.test("hostile: 10 000 hostile reviews beside useless connections are answered, and good ones gated", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  await using server = await startServer("gate");
  await runAssault({ ...server, path: WEBHOOK_PATH }, { seed, crowd: { idle: 1_000, halfOpen: 50, slow: 50 } });
  assert.ok(server.rss() < MAX_RSS, `seed ${seed}: ${server.rss()} bytes resident`);
});
