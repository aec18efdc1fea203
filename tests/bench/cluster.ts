// `deno task bench:cluster`: B2 to B8 of the benchmark protocol on a real control plane, with a real registry behind a
// counting proxy and the floors in the same run. Prints one table and keeps `.archway/bench-cluster.json`. See --help.
import type { Bench } from "./bench.ts";
import { benchBursts } from "./bursts.ts";
import { type BenchOptions, type Measure, parseBenchOptions, USAGE } from "./cluster_options.ts";
import { referenceStarter } from "./contender.ts";
import { describeCluster, readMachineFacts } from "./machine.ts";
import { benchRegistryCost } from "./registry_cost.ts";
import { benchRegistryFaults } from "./registry_faults.ts";
import { benchSize } from "./size.ts";
import { mergeResults, type ResultEntry } from "./results_file.ts";
import { judgeRows, renderRows, type Row } from "./table.ts";
import { benchWebhookAlone } from "./webhook_alone.ts";
import { openWalkBed } from "../cluster/support/walk_bed.ts";

/** What is measured together, and for which targets. */
const SECTIONS: readonly (readonly [
  name: string,
  measures: readonly Measure[],
  run: (bench: Bench) => Promise<readonly Row[]>,
])[] = [
  ["webhook", ["B1"], benchWebhookAlone],
  ["bursts", ["B2", "B3", "B7"], benchBursts],
  ["registry cost", ["B4"], benchRegistryCost],
  ["registry faults", ["B8"], benchRegistryFaults],
  ["size", ["B5", "B6"], benchSize],
];

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

async function runSections(options: BenchOptions): Promise<readonly Row[]> {
  const machine = await readMachineFacts();
  await using bed = await openWalkBed();
  const cluster = describeCluster((await bed.controlPlane.request("GET", "/version")).body);
  const reference = options.referenceStart === undefined ? undefined : referenceStarter(options.referenceStart);
  const rows: Row[] = [];
  for (const [name, measures, run] of SECTIONS) {
    if (!measures.some((measure) => options.only.includes(measure))) continue;
    const raw: Record<string, unknown> = {};
    const found = await run({ bed, options, reference, tell: print, keep: (key, value) => void (raw[key] = value) });
    const entry: ResultEntry = {
      machine,
      cluster,
      pods: options.pods,
      rounds: options.rounds,
      rows: judgeRows(found),
      raw,
    };
    if (found.length > 0) await mergeResults(options.resultsFile, { [name]: entry });
    rows.push(...found.filter(({ measure }) => options.only.some((wanted) => measure.startsWith(wanted))));
  }
  return rows.sort((left, right) => left.measure.slice(0, 2) < right.measure.slice(0, 2) ? -1 : 1);
}

if (Deno.args.includes("--help")) {
  print(USAGE);
} else {
  print(`\n${renderRows(await runSections(parseBenchOptions(Deno.args)))}`);
}
