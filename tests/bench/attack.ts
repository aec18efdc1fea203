// `deno task attack`: the webhook port under the load of docs/security.md, for a minute from each origin. Keeps
// results/attack.json for docs/figures.md; exits with 1 when a pod passed ungated.
import { renderTable } from "../../lib/cli/output.ts";
import { type AttackResult, FULL_ATTACK, measureAttack, type Origin, ORIGINS, type Reviews } from "./attack_bed.ts";
import { FILES } from "./figures.ts";
import { readMachineFacts } from "./machine.ts";
import { mergeResults } from "./results_file.ts";

function renderAttack(results: Readonly<Partial<Record<Origin, AttackResult>>>): string {
  const row = (name: string, reviews: Reviews, quiet: Reviews): readonly string[] => [
    name,
    reviews.p50Ms.toFixed(1),
    reviews.p99Ms.toFixed(1),
    (reviews.p99Ms / quiet.p99Ms).toFixed(1),
    reviews.maxRssMb.toFixed(0),
    reviews.cpuMsPerSecond.toFixed(0),
    `${reviews.ungated} of ${reviews.count}`,
  ];
  const rows = ORIGINS.flatMap((origin) => {
    const result = results[origin];
    if (result === undefined) return [];
    const { quiet, attacked } = result;
    return [row("(before)", quiet, quiet), row(origin, attacked, quiet)];
  });
  return renderTable(["ATTACK FROM", "P50 MS", "P99 MS", "× QUIET", "MOST MB", "CPU MS/S", "UNGATED"], rows);
}

if (import.meta.main) {
  const results = await measureAttack(FULL_ATTACK, ORIGINS);
  await mergeResults(FILES.attack, { full: { machine: await readMachineFacts(), plan: FULL_ATTACK, results } });
  Deno.stdout.writeSync(new TextEncoder().encode(`${renderAttack(results)}\n`));
  Deno.exit(Object.values(results).some(({ attacked }) => attacked.ungated > 0) ? 1 : 0);
}
