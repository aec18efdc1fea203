// `deno task bench:cluster`: B1 to B8 of the benchmark protocol, and upgrades, on a real control plane, with a real registry behind a
// counting proxy and the floors in the same run. Prints one table and keeps results/cluster.json. See --help.
import { bundleAsInstalled } from "./as_installed.ts";
import type { Bench, BenchRound } from "./bench.ts";
import { benchBursts } from "./bursts.ts";
import { type BenchOptions, type Measure, parseBenchOptions, USAGE } from "./cluster_options.ts";
import { describeCluster, readMachineFacts } from "./machine.ts";
import { benchRegistryCost } from "./registry_cost.ts";
import { benchRegistryFaults } from "./registry_faults.ts";
import { benchSize } from "./size.ts";
import { mergeResults, type ResultEntry } from "./results_file.ts";
import { combineRounds, renderRows, type Row } from "./table.ts";
import { benchUpgrades } from "./upgrades.ts";
import { benchWebhookAlone } from "./webhook_alone.ts";
import { originalStarter } from "./original.ts";
import { openWalkBed, type WalkBed } from "../cluster/support/walk_bed.ts";
import { git } from "../support/git.ts";
import { print } from "../support/print.ts";

const REAL = "control plane, real registry";

type Run = (bench: BenchRound) => Promise<readonly Row[]>;

function onOneBed(run: (bench: Bench) => Promise<readonly Row[]>): Run {
  return async (bench) => {
    await using bed = await bench.openBed();
    return await run({ ...bench, bed });
  };
}

/** What other work on the machine disturbs most comes last. */
const SECTIONS: readonly (readonly [
  name: string,
  measures: readonly Measure[],
  run: Run,
  bed: string,
])[] = [
  ["registry cost", ["B4"], onOneBed(benchRegistryCost), REAL],
  ["registry faults", ["B8"], onOneBed(benchRegistryFaults), REAL],
  ["upgrades", ["U1"], onOneBed(benchUpgrades), "control plane without scheduler, operators of OpenShift by script"],
  ["size", ["B5", "B6"], onOneBed(benchSize), "control plane without scheduler, registry in memory"],
  ["webhook", ["B1"], onOneBed(benchWebhookAlone), REAL],
  ["bursts", ["B2", "B3", "B7"], benchBursts, REAL],
];

async function runSections(options: BenchOptions): Promise<readonly Row[]> {
  const machine = await readMachineFacts();
  await using _scripts = await bundleAsInstalled();
  const mto = options.mto === undefined
    ? ""
    : `, MTO ${await git("-C", options.mto, "rev-parse", "--short=10", "HEAD")}`;
  let cluster = "";
  const reference = options.mto === undefined ? undefined : await originalStarter(options.mto);
  const rows: Row[] = [];
  for (const [name, measures, run, bed] of SECTIONS) {
    if (!measures.some((measure) => options.only.includes(measure))) continue;
    const raw: Record<string, unknown>[] = [];
    const measured: (readonly Row[])[] = [];
    for (let round = 0; round < options.rounds; round++) {
      print(`${name}: round ${round + 1} of ${options.rounds}`);
      const openBed = async (): Promise<WalkBed> => {
        const bed = await openWalkBed();
        cluster = `${describeCluster(await bed.controlPlane.get("/version"))}${mto}`;
        return bed;
      };
      const keep = (key: string, value: unknown): void => void (raw[round] = { ...raw[round], [key]: value });
      measured.push(await run({ openBed, options, reference, tell: print, round, keep }));
    }
    const found = combineRounds(measured);
    const entry: ResultEntry = {
      machine,
      cluster,
      pods: options.pods,
      rounds: options.rounds,
      bed,
      rows: found,
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
