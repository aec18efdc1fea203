import assert from "node:assert/strict";
import { type Ended, runToEnd } from "../support/commands.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

function runTask(script: string, flag: string): Promise<Ended> {
  return runToEnd(Deno.execPath(), ["run", "-A", "--no-check", "--no-prompt", script, flag], { cwd: ROOT });
}

const TASKS = {
  image: ["manifests/image/image.ts", ["--name", "--push", "--base", "--arch", "--form", "--permissions"]],
  compile: ["manifests/image/compile.ts", ["--form", "DENORT_BIN"]],
  release: ["manifests/release/release.ts", [
    ...["--registry", "--install-only", "--form", "--out", "--base", "--arch", "--complete"],
  ]],
  bundle: ["manifests/generate/bundle.ts", ["--image", "--bundle-image", "--out"]],
  screenshots: ["tests/browser/screenshots.ts", ["--help"]],
} as const;

for (const [task, [script, flags]] of Object.entries(TASKS)) {
  Deno.test(`deno task ${task} --help lists its flags, and a flag that it does not have ends with 1 and no stack`, async () => {
    const { code, said } = await runTask(script, "--help");
    assert.equal(code, 0, said);
    assert.match(said, new RegExp(`\\n\\nUsage: deno task ${task} .*\\[flags\\]\\n\\n`));
    for (const flag of flags) assert.match(said, new RegExp(`^ {2}${flag}[ =]`, "m"));
    const wrong = await runTask(script, "--nosuch");
    assert.equal(wrong.code, 1);
    assert.match(wrong.said, /Unknown option '--nosuch'/);
    assert.doesNotMatch(wrong.said, /\n +at |error: Uncaught/);
  });
}
