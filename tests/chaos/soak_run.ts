// `deno task soak [--minutes N] [--seed N]`: soaks for 30 minutes by default, writes `.archway/soak.json` and
// `tests/chaos/soak.md`. Exit code 1 when the goals were not met.
import { parseArgs } from "node:util";
import { print } from "../support/print.ts";
import { describeMachine, writeReport } from "./report.ts";
import { soak } from "./soak.ts";
import { judgeSoak, renderSoak } from "./soak_goals.ts";

const { values } = parseArgs({
  args: [...Deno.args],
  options: { minutes: { type: "string", default: "30" }, seed: { type: "string", default: "1" } },
});
const machine = await describeMachine();
const report = await soak({ minutes: Number(values.minutes), seed: Number(values.seed), print });
const goals = judgeSoak(report);
const markdown = renderSoak(report, { goals, machine });
print(markdown);
await writeReport("soak", { json: { machine, goals, ...report }, markdown });
Deno.exit(goals.every(({ isMet }) => isMet) ? 0 : 1);
