import assert from "node:assert/strict";

const PROGRAM = new URL("./hostile_objects.ts", import.meta.url);

Deno.test("a process with little heap lives through 200 000 Events of failures in one namespace", async () => {
  assert.ok(await heapAfter("events", 200_000) < 60);
});

Deno.test("one namespace's templates take bounded memory", async () => {
  assert.ok(await heapAfter("templates", 10_000) < 60);
});

Deno.test("one namespace's gated pods take bounded memory", async () => {
  assert.ok(await heapAfter("gated", 4_000) < 80);
});

Deno.test("thousands of PodPlacementConfigs of 98 KB take bounded memory, under the heap of the Deployment", async () => {
  assert.ok(await heapAfter("configs", 5_000, 448) < 60);
});

/** The heap in MB after a controller has listed so many objects, in a process that may have `maxMb` of it. */
async function heapAfter(what: string, count: number, maxMb = 112): Promise<number> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-prompt",
      `--v8-flags=--max-old-space-size=${maxMb},--expose-gc`,
      ...[PROGRAM.href, what, String(count)],
    ],
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  assert.equal(code, 0, text(stderr).slice(0, 2_000));
  return JSON.parse(text(stdout)).heapMb;
}
