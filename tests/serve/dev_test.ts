import assert from "node:assert/strict";
import { parseConfig } from "../../lib/config/parse.ts";
import { runDev } from "../../serve/dev.ts";

Deno.test("runDev() says that it was stopped when the signal comes before it listens", async () => {
  const parsed = parseConfig(["dev", "--once"], { env: {}, readFile: () => "" });
  assert.ok(parsed.kind === "run");
  const terminal = { out: assert.fail, err: assert.fail, color: false };
  const runServe = (): Promise<number> => Promise.resolve(0);
  await assert.rejects(runDev(parsed.config, { terminal, stop: AbortSignal.abort(), runServe }), /^Error: Stopped\.$/);
});
