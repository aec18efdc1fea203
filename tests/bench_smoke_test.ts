// The benchmarks must run and give numbers; how good those are is never asserted.
import assert from "node:assert/strict";

Deno.test("bench --short runs, and its rows of gate, warm admission and decision have numbers", async () => {
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL("./bench/run.ts", import.meta.url).pathname, "--short"],
    stdin: "null",
    stderr: "null",
  }).output();
  assert.equal(code, 0);
  const text = new TextDecoder().decode(stdout);
  for (const row of ["gate, 16 connections", "warm, 1 connection", "decide about a gated pod"]) {
    const line = text.split("\n").find((each) => each.startsWith(row)) ?? assert.fail(`no row "${row}" in:\n${text}`);
    const numbers = line.slice(row.length).match(/\d+(\.\d+)?/g) ?? [];
    assert.ok(numbers.length > 0 && numbers.every((number) => Number(number) >= 0), line);
  }
  assert.doesNotMatch(text, /NaN/);
});
