// `deno task bench:growth`: what a gated pod costs as pods, images, nodes and configured namespaces grow, one at a time.
// Keeps results/growth.json, of which `deno task figures` makes a table. `--help` says how to measure single points.
import { parseArgs } from "node:util";
import { renderTable } from "../../lib/cli/output.ts";
import { parseCount } from "./cluster_options.ts";
import { allPoints, AXES, type GrowthPoint, LARGE, nameOf, parseAxes, pointAt } from "./growth_axes.ts";
import { measureGrowth } from "./growth_point.ts";
import { cellsOf, COLUMNS, type GrowthEntry } from "./growth_table.ts";
import { readMachineFacts } from "./machine.ts";
import { mergeResults, readResults } from "./results_file.ts";
import { print } from "../support/print.ts";

const RESULTS = new URL("./results/growth.json", import.meta.url).pathname;

const USAGE = `deno task bench:growth [options]
  (none)                    measure every point that the results lack
  --axis pods --at 10000    measure this point anew; without --at all points of the axis
  --large                   measure the large cluster anew: 150 000 running pods, half an hour
  --again                   measure every point anew
  --short                   one tiny point, not kept: proves that it runs
`;

const TINY: GrowthPoint = { pods: 20, images: 25, nodes: 4, namespaces: 2 };

function parsePoints(
  args: { readonly axis?: string; readonly at?: string; readonly again: boolean },
  known: Readonly<Record<string, unknown>>,
): readonly GrowthPoint[] {
  if (args.axis === undefined) return allPoints().filter((point) => args.again || !(nameOf(point) in known));
  const at = parseCount("--at", args.at);
  return parseAxes(args.axis).flatMap((axis) =>
    (at === undefined ? AXES[axis] : [at]).map((value) => pointAt(axis, value))
  );
}

function renderResults(results: readonly GrowthEntry[]): string {
  return renderTable(COLUMNS.map((title) => title.toUpperCase()), results.map(cellsOf));
}

const { values } = parseArgs({
  args: [...Deno.args],
  options: {
    axis: { type: "string" },
    at: { type: "string" },
    again: { type: "boolean", default: false },
    large: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
async function measure(point: GrowthPoint): Promise<GrowthEntry> {
  return { machine: await readMachineFacts(), ...await measureGrowth(point) };
}

if (values.help) {
  print(USAGE);
} else if (values.short) {
  print(renderResults([await measure(TINY)]));
} else {
  for (const point of values.large ? [LARGE] : parsePoints(values, await readResults(RESULTS))) {
    const entry = await measure(point);
    await mergeResults(RESULTS, { [nameOf(point)]: { ...entry } });
    print(renderResults([entry]));
  }
  print(renderResults(Object.values(await readResults<GrowthEntry>(RESULTS))));
}
