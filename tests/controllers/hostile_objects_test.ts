import assert from "node:assert/strict";
import { runAlone } from "../support/run_alone.ts";

const PROGRAM = new URL("./hostile_objects.ts", import.meta.url);

const ROWS: readonly (readonly [title: string, what: string, count: number, heapMb: number, maxMb?: number])[] = [
  ["a process with little heap lives through 200 000 Events of failures in one namespace", "events", 200_000, 60],
  ["one namespace's templates take bounded memory", "templates", 10_000, 60],
  ["one namespace's gated pods take bounded memory", "gated", 4_000, 80],
  ["PodPlacementConfigs of 98 KB fit into the heap of the Deployment", "configs", 5_000, 60, 448],
];

for (const [title, what, count, heapMb, maxMb] of ROWS) {
  Deno.test(title, async () => {
    const after = await runAlone(PROGRAM, [what, String(count)], maxMb);
    assert.ok((after["heapMb"] ?? NaN) < heapMb);
  });
}
