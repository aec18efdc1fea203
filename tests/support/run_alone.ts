// Runs programs of tests that measure their own heap.
import assert from "node:assert/strict";
import { runToEnd } from "./commands.ts";

/** What a program prints, as a process of its own that may have `maxMb` of heap. */
export async function runAlone(
  program: URL,
  args: readonly string[],
  maxMb = 112,
): Promise<Readonly<Record<string, number>>> {
  const flags = ["run", "-A", "--no-prompt", `--v8-flags=--max-old-space-size=${maxMb},--expose-gc`];
  const { code, out, err } = await runToEnd(Deno.execPath(), [...flags, program.href, ...args], {
    env: { NO_COLOR: "1" },
  });
  assert.equal(code, 0, err.slice(0, 2_000));
  return JSON.parse(out);
}
