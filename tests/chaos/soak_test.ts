// The short form of the soak; `deno task soak` runs the long one.
import assert from "node:assert/strict";
import { print } from "../support/print.ts";
import { soak } from "./soak.ts";
import { judgeSoak } from "./soak_goals.ts";

/** Start and settling included, so that every change can be held to it. */
const MINUTES = 1.75;

Deno.test("soak: minutes of coming and going under faults leave nothing stuck, misplaced or grown", async () => {
  const goals = judgeSoak(await soak({ minutes: MINUTES, seed: 1, print }));
  assert.deepEqual(goals.filter(({ isMet }) => !isMet), []);
});
