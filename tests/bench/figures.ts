// `deno task figures`: writes docs/figures.md from the committed results; with --run it measures them first. See --help.
import { parseArgs } from "node:util";
import { type AttackEntry, type ClusterEntry, type IndexesEntry, renderFigures, type Results } from "./figures_page.ts";
import { LARGE, nameOf } from "./growth_axes.ts";
import type { GrowthEntry } from "./growth_table.ts";
import { readMachineFacts } from "./machine.ts";
import { readResults } from "./results_file.ts";
import { print } from "../support/print.ts";

const USAGE = `deno task figures [options]
  (none)        write docs/figures.md from the committed results
  --run         measure everything that is compared, in one go on this clean commit: under 60 minutes on a quiet machine
  --run --long  measure once what takes longer: nodes, taints, growth, attacks: under 3 hours, as root
  --mto DIR     with --run: measure the Multiarch Tuning Operator too, from a copy of its repository
`;

export const FILES = {
  cluster: new URL("./results/cluster.json", import.meta.url).pathname,
  indexes: new URL("./results/indexes.json", import.meta.url).pathname,
  growth: new URL("./results/growth.json", import.meta.url).pathname,
  attack: new URL("./results/attack.json", import.meta.url).pathname,
  page: new URL("../../docs/figures.md", import.meta.url).pathname,
} as const;

function compared(mto: string | undefined): readonly (readonly string[])[] {
  return [["bench:cluster", ...mto === undefined ? [] : ["--mto", mto]], ["bench:indexes"]];
}
const LONG = [["bench:node"], ["bench:taints"], ["bench:growth", "--again"], ["attack"]];

export async function readCommitted(): Promise<Results> {
  const { indexes } = await readResults<IndexesEntry>(FILES.indexes);
  const points = await readResults<GrowthEntry>(FILES.growth);
  const cluster = await readResults<ClusterEntry>(FILES.cluster);
  const { full: attack } = await readResults<AttackEntry>(FILES.attack);
  return { cluster, indexes, growth: Object.values(points), large: points[nameOf(LARGE)], attack };
}

export async function renderCommitted(): Promise<string> {
  return renderFigures(await readCommitted());
}

async function measure(tasks: readonly (readonly string[])[]): Promise<void> {
  const { commit } = await readMachineFacts();
  if (!/^[0-9a-f]+$/.test(commit)) {
    throw new Error(
      `Cannot measure: figures are of a clean commit, and this is ${commit}. Commit or remove the changes.`,
    );
  }
  const startedMs = performance.now();
  for (const [at, task] of tasks.entries()) {
    print(`figures: ${task.join(" ")} (${at + 1} of ${tasks.length})`);
    const { code } = await new Deno.Command(Deno.execPath(), { args: ["task", ...task], stdin: "null" }).spawn().status;
    if (code !== 0) throw new Error(`Cannot measure: "deno task ${task.join(" ")}" ended with ${code}.`);
  }
  print(`figures: ${((performance.now() - startedMs) / 60_000).toFixed(0)} minutes`);
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: [...Deno.args],
    options: {
      run: { type: "boolean", default: false },
      long: { type: "boolean", default: false },
      mto: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    print(USAGE);
  } else {
    if (values.run) await measure(values.long ? LONG : compared(values.mto));
    await Deno.writeTextFile(FILES.page, await renderCommitted());
  }
}
