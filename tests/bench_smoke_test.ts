// The benchmarks must run and give numbers; how good those are is never asserted.
import assert from "node:assert/strict";
import { runCommand } from "./support/commands.ts";

Deno.test("bench:indexes --short runs, and its rows have numbers", async () => {
  const script = new URL("./bench/image_index.ts", import.meta.url).pathname;
  const text = await runCommand(Deno.execPath(), ["run", "-A", script, "--short"]);
  for (const row of ["assemble an index of 4 images, requests", "assemble an index of 4 images, s"]) {
    const line = text.split("\n").find((each) => each.startsWith(row)) ?? assert.fail(`no row "${row}" in:\n${text}`);
    const numbers = line.slice(row.length).match(/\d+(\.\d+)?/g) ?? [];
    assert.ok(numbers.length > 0 && numbers.every((number) => Number(number) >= 0), line);
  }
  assert.doesNotMatch(text, /NaN/);
});
