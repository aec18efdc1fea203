// The chaos table on a real control plane: whatever breaks, no pod is stuck, none misplaced, no gate too old, and all is
// well soon after. `deno task chaos` runs the same rows and writes results.md.
import assert from "node:assert/strict";
import { openChaosBed } from "./bed.ts";
import { print } from "../support/print.ts";
import { chaosTable } from "./rows.ts";
import { type Outcome, problemsOf, renderOutcomes, runSeeded } from "./table.ts";

/** A minute is for `deno task chaos`; the code is the same. */
const ABSENCE_MS = Number(Deno.env.get("ARCHWAY_CHAOS_ABSENCE_SECONDS") ?? "10") * 1_000;
const SEED = Number(Deno.env.get("ARCHWAY_CHAOS_SEED") ?? "1");
const SLACK_MS = 20_000;

Deno.test("chaos: every row of the table leaves nothing stuck, misplaced or waiting", async (t) => {
  await using bed = await openChaosBed();
  const outcomes: Outcome[] = [];
  for (const row of chaosTable({ absenceMs: ABSENCE_MS })) {
    await t.step({
      name: `chaos: ${row.area}: ${row.fault}`,
      ignore: row.missing?.(bed) !== undefined,
      // The bed is open around all steps: its sockets come and go in any of them. The test itself is checked.
      sanitizeOps: false,
      sanitizeResources: false,
      fn: async () => {
        const outcome = await runSeeded(bed, row, { seed: SEED, print });
        outcomes.push(outcome);
        assert.deepEqual(problemsOf(outcome, SLACK_MS), []);
      },
    });
  }
  print(renderOutcomes(outcomes));
});
