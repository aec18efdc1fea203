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

Deno.test("`archway dev --once --scenario exec-format-error` reports the wrong images, and no program that merely fails", async () => {
  const root = new URL("../../", import.meta.url).pathname;
  const args = ["run", "-A", "--no-check", "--unstable-kv", "--no-prompt", "main.ts", "dev", "--once", "-o", "json"];
  const run = new Deno.Command(Deno.execPath(), {
    args: [...args, "--scenario=exec-format-error"],
    cwd: root,
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await run.output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const outcomes: readonly { readonly pod: string; readonly report?: string }[] = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  const reports = new Map(outcomes.map(({ pod, report = "" }) => [pod, report]));
  assert.deepEqual([...reports.keys()].sort(), ["bound-by-hand", "lying-image", "merely-fails", "placed"]);
  assert.match(reports.get("bound-by-hand") ?? "", /demo\/edge:v1 has arm64\. .*named its node itself/);
  assert.match(reports.get("lying-image") ?? "", /demo\/lying:v1 claims amd64, but the program in it is for another/);
  assert.deepEqual([reports.get("merely-fails"), reports.get("placed")], ["", ""]);
});
