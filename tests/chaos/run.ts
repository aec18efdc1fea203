// `deno task chaos [--seed N] [--only PATTERN] [--absence SECONDS]`: runs the chaos table (both replicas away for a minute),
// prints it, and writes `.archway/chaos.json` and `tests/chaos/results.md`. Exit code 1 when an invariant did not hold.
import { parseArgs } from "node:util";
import { openChaosBed } from "./bed.ts";
import { print } from "../support/print.ts";
import { describeMachine, writeReport } from "./report.ts";
import { chaosTable } from "./rows.ts";
import { type Outcome, problemsOf, renderOutcomes, renderResults, runSeeded } from "./table.ts";

const { values } = parseArgs({
  args: [...Deno.args],
  options: {
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    absence: { type: "string", default: "60" },
  },
});
const seed = Number(values.seed);
const rows = chaosTable({ absenceMs: Number(values.absence) * 1_000 })
  .filter(({ area, fault }) => new RegExp(values.only).test(`${area}: ${fault}`));
const machine = await describeMachine();
const outcomes: Outcome[] = [];
const broken: string[] = [];
{
  await using bed = await openChaosBed();
  for (const row of rows) {
    const outcome = await runSeeded(bed, row, { seed, print });
    outcomes.push(outcome);
    broken.push(...problemsOf(outcome, 0).map((what) => `${row.area}, ${row.fault}: ${what}`));
  }
}
print(renderOutcomes(outcomes));
for (const what of broken) print(`BROKEN ${what}`);
const results = outcomes.map((outcome) =>
  outcome.kind === "ran" ? outcome.result : { fault: outcome.row.fault, kind: outcome.kind }
);
// A part of the table must not replace the whole.
if (values.only === "") {
  const markdown = renderResults(outcomes, { seed, machine });
  await writeReport("chaos", { json: { machine, seed, broken, results }, markdown, page: "results" });
}
Deno.exit(broken.length === 0 ? 0 : 1);
