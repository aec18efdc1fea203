import assert from "node:assert/strict";
import { parseConfig } from "../../lib/config/parse.ts";
import { runDev } from "../../serve/dev.ts";

Deno.test("runDev() says that it was stopped when the signal comes before it listens, however serving ends", async () => {
  const parsed = parseConfig(["dev", "--once"], { env: {}, readFile: () => "" });
  assert.ok(parsed.kind === "run");
  const terminal = { out: assert.fail, err: assert.fail, color: false };
  const stop = AbortSignal.abort();
  for (const ended of [() => Promise.resolve(0), () => Promise.reject(stop.reason)]) {
    const running = runDev(parsed.config, { terminal, stop, runServe: ended });
    await assert.rejects(running, /^Error: Stopped\.$/);
  }
});
