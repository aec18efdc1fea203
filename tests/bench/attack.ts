// `deno task attack`: the webhook port under the load of docs/security.md, for a minute from each origin. Keeps
// results/attack.json for docs/figures.md; exits with 1 when a pod passed ungated.
import { print } from "../support/print.ts";
import { FULL_ATTACK, measureAttack, ORIGINS } from "./attack_bed.ts";
import { FILES } from "./figures.ts";
import { renderAttack } from "./figures_page.ts";
import { readMachineFacts } from "./machine.ts";
import { mergeResults } from "./results_file.ts";

if (import.meta.main) {
  const [machine, results] = [await readMachineFacts(), await measureAttack(FULL_ATTACK, ORIGINS)];
  await mergeResults(FILES.attack, { full: { machine, plan: FULL_ATTACK, results } });
  print(renderAttack({ machine, results }).join("\n"));
  Deno.exit(Object.values(results).some(({ attacked }) => attacked.ungated > 0) ? 1 : 0);
}
