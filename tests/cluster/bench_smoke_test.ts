// The benchmarks on a control plane must run and give numbers; how good those are is never asserted.
import assert from "node:assert/strict";
import { runCommand } from "../support/commands.ts";

async function runBench(file: string, args: readonly string[]): Promise<string> {
  const script = new URL(`../bench/${file}`, import.meta.url).pathname;
  return await runCommand(Deno.execPath(), ["run", "-A", "--unstable-kv", script, ...args]);
}

Deno.test("bench:cluster of B1, B2, B4 and B8, and bench:growth, --short, run and give numbers", async () => {
  // At the same time: both wait more than they work.
  const [table, growth] = await Promise.all([
    runBench("cluster.ts", ["--short", "--only", "B1,B2,B4,B8"]),
    runBench("growth.ts", ["--short"]),
  ]);
  const measures = [
    "B1 unknown images, 16 connections, requests a second",
    "B2 burst of a cold image, every pod gated (--warm-admission=false), ms",
    "B4 requests a cold public index",
    "B8 resets for 1 s: pods stuck",
  ];
  for (const measure of measures) {
    const line = table.split("\n").find((each) => each.startsWith(measure)) ??
      assert.fail(`no "${measure}":\n${table}`);
    assert.match(line.slice(measure.length), /^ +\d+(\.\d+)? /);
  }
  assert.doesNotMatch(table, /NaN/);
  assert.match(growth, /^pods=20 images=25 nodes=4 namespaces=2( +\d+(\.\d+)?){9}$/m);
});
