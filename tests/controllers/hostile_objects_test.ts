import assert from "node:assert/strict";
import { runAlone } from "../support/run_alone.ts";

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

/** The heap in MB after a controller has listed so many objects. */
async function heapAfter(what: string, count: number, maxMb?: number): Promise<number> {
  return (await runAlone(PROGRAM, [what, String(count)], maxMb))["heapMb"] ?? NaN;
}
