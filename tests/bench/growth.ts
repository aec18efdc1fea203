// `deno task bench:growth`: what a gated pod costs as pods, images, nodes and configured namespaces grow, one at a time.
// Keeps results/growth.json and draws results/growth.svg from it. `--help` says how to measure single points.
import { parseArgs } from "node:util";
import { renderTable } from "../../lib/cli/output.ts";
import { parseCount } from "./cluster_options.ts";
import { allPoints, AXES, type GrowthPoint, LARGE, nameOf, parseAxes, pointAt } from "./growth_axes.ts";
import { drawGrowth } from "./growth_plot.ts";
import { type GrowthResult, measureGrowth } from "./growth_point.ts";
import { type MachineFacts, readMachineFacts } from "./machine.ts";
import { mergeResults, readResults } from "./results_file.ts";
import { print } from "../support/print.ts";

const RESULTS = new URL("./results/growth.json", import.meta.url).pathname;
const PLOT = new URL("./results/growth.svg", import.meta.url).pathname;

const USAGE = `deno task bench:growth [options]
  (none)                    measure every point that the results lack
  --axis pods --at 10000    measure this point anew; without --at all points of the axis
  --large                   measure the large cluster anew: 150 000 running pods, half an hour
  --again                   measure every point anew
  --plot                    measure nothing, draw what there is
  --short                   one tiny point, not kept: proves that it runs
`;

const TINY: GrowthPoint = { pods: 20, images: 25, nodes: 4, namespaces: 2 };

function parsePoints(
  args: { readonly axis: string | undefined; readonly at: string | undefined; readonly again: boolean },
  known: Readonly<Record<string, unknown>>,
): readonly GrowthPoint[] {
  if (args.axis === undefined) return allPoints().filter((point) => args.again || !(nameOf(point) in known));
  const at = parseCount("--at", args.at);
  return parseAxes(args.axis).flatMap((axis) =>
    (at === undefined ? AXES[axis] : [at]).map((value) => pointAt(axis, value))
  );
}

function renderResults(results: readonly GrowthResult[]): string {
  return renderTable(
    [
      "POINT",
      "CPU MS A POD",
      "MS AN IMAGE",
      "IDLE MB",
      "MOST MB",
      "WRITES",
      "EVENTS",
      "READS",
      "WATCHED KB",
      "GATE P50 MS",
    ],
    results.map((result) => [
      nameOf(result.point),
      result.cpuMsPerPod.toFixed(2),
      result.cpuMsPerImage.toFixed(2),
      result.idleMb.toFixed(0),
      result.peakMb.toFixed(0),
      result.writesPerPod.toFixed(2),
      result.eventsPerPod.toFixed(2),
      String(result.reads),
      (result.watchedBytesPerPod / 1_024).toFixed(1),
      result.gateP50Ms.toFixed(0),
    ]),
  );
}

type GrowthEntry = GrowthResult & { readonly machine: MachineFacts };

function readGrowth(): Promise<Readonly<Record<string, GrowthEntry>>> {
  return readResults<GrowthEntry>(RESULTS);
}

async function draw(): Promise<void> {
  const results = await readGrowth();
  const machines = new Set(
    Object.values(results).map(({ machine }) => `${machine.cores} cores of ${machine.cpu}, Deno ${machine.deno}`),
  );
  await Deno.writeTextFile(PLOT, drawGrowth(results, `${[...machines].join("; ")}; one replica, real API server`));
}

const { values } = parseArgs({
  args: [...Deno.args],
  options: {
    axis: { type: "string" },
    at: { type: "string" },
    again: { type: "boolean", default: false },
    large: { type: "boolean", default: false },
    plot: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  print(USAGE);
} else if (values.short) {
  print(renderResults([await measureGrowth(TINY)]));
} else {
  const points = values.plot
    ? []
    : values.large
    ? [LARGE]
    : parsePoints({ axis: values.axis, at: values.at, again: values.again }, await readGrowth());
  for (const point of points) {
    const result = await measureGrowth(point);
    await mergeResults(RESULTS, { [nameOf(point)]: { machine: await readMachineFacts(), ...result } });
    print(renderResults([result]));
  }
  await draw();
  print(renderResults(Object.values(await readGrowth())));
}
