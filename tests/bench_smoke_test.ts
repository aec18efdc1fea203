// The benchmarks must run and give numbers; how good those are is never asserted.
import assert from "node:assert/strict";
import { runCommand } from "./support/commands.ts";

Deno.test("bench --short runs, and its rows of gate, warm admission and decision have numbers", async () => {
  const script = new URL("./bench/run.ts", import.meta.url).pathname;
  const text = await runCommand(Deno.execPath(), ["run", "-A", script, "--short"]);
  for (const row of ["gate, 16 connections", "warm, 1 connection", "decide about a gated pod"]) {
    const line = text.split("\n").find((each) => each.startsWith(row)) ?? assert.fail(`no row "${row}" in:\n${text}`);
    const numbers = line.slice(row.length).match(/\d+(\.\d+)?/g) ?? [];
    assert.ok(numbers.length > 0 && numbers.every((number) => Number(number) >= 0), line);
  }
  assert.doesNotMatch(text, /NaN/);
});
