// Runs programs of tests that measure their own heap.
import assert from "node:assert/strict";

/** What a program prints, as a process of its own that may have `maxMb` of heap. */
export async function runAlone(
  program: URL,
  args: readonly string[],
  maxMb = 112,
): Promise<Readonly<Record<string, number>>> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--no-prompt", `--v8-flags=--max-old-space-size=${maxMb},--expose-gc`],
      ...[program.href, ...args],
    ],
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  assert.equal(code, 0, text(stderr).slice(0, 2_000));
  return JSON.parse(text(stdout));
}
