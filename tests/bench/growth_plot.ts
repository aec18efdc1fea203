// Draws the growth results: a column for each thing that grows, a row for each measure. Pure: results in, SVG text out.
import { AXES, type Axis, nameOf, parseAxes, pointAt } from "./growth_axes.ts";
import type { GrowthResult } from "./growth_point.ts";

interface Series {
  readonly name: string;
  readonly read: (result: GrowthResult) => number;
  /** Where its numbers go. Default `above` the line. */
  readonly labels?: "above" | "below";
}

interface Measure {
  readonly title: string;
  /** At most three: there are three looks. */
  readonly series: readonly Series[];
  readonly limit?: number;
}

const MEASURES: readonly Measure[] = [
  { title: "CPU a gated pod, ms", series: [{ name: "CPU", read: ({ cpuMsPerPod }) => cpuMsPerPod }], limit: 2 },
  {
    title: "memory, MB",
    series: [
      { name: "most", read: ({ peakMb }) => peakMb },
      { name: "idle", read: ({ idleMb }) => idleMb, labels: "below" },
    ],
    limit: 250,
  },
  {
    title: "API requests a pod",
    series: [
      { name: "events", read: ({ eventsPerPod }) => eventsPerPod },
      { name: "writes", read: ({ writesPerPod }) => writesPerPod },
      { name: "GET and LIST", read: ({ reads, point }) => reads / point.pods },
    ],
  },
  { title: "watched, KB a pod", series: [{ name: "bytes", read: (result) => result.watchedBytesPerPod / 1_024 }] },
];

const AXIS_TITLES: Readonly<Record<Axis, string>> = {
  pods: "pods in the burst",
  images: "images known",
  nodes: "nodes",
  namespaces: "namespaces with a config",
};

const PANEL = { width: 190, height: 110, gapX: 40, gapY: 58, left: 62, top: 86 } as const;

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 } .title { font-size: 15px; font-weight: 600 }
  .series { fill: currentColor } polyline.series { fill: none; stroke: currentColor; stroke-width: 2 }
  polyline.s1 { stroke-dasharray: 6 3 } polyline.s2 { stroke-dasharray: 2 3 } .limit { stroke-dasharray: 5 4 }
  .page { fill: #ffffff } .label { paint-order: stroke; stroke: #ffffff; stroke-width: 3px } .quiet { fill: #59636e } .grid { stroke: #d1d9e0 } .limit { stroke: #c2410c }
  .limit-text { fill: #c2410c } .s0 { color: #0b62c4 } .s1 { color: #8a3ffc } .s2 { color: #1a7f37 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .page { fill: #0d1117 } .label { stroke: #0d1117 } .quiet { fill: #9198a1 } .grid { stroke: #3d444d }
    .limit { stroke: #ff9b5e } .limit-text { fill: #ff9b5e }
    .s0 { color: #6cb6ff } .s1 { color: #c8a5ff } .s2 { color: #6fdd8b }
  }`;

/** The plot. Points that were not measured are left out; `machine` is its subtitle. */
export function drawGrowth(results: Readonly<Record<string, GrowthResult>>, machine: string): string {
  const axes = parseAxes();
  const width = PANEL.left + axes.length * (PANEL.width + PANEL.gapX);
  const height = PANEL.top + MEASURES.length * (PANEL.height + PANEL.gapY) + 6;
  const panels = MEASURES.flatMap((measure, row) => {
    const top = niceTop(Math.max(measure.limit ?? 0, ...Object.values(results).flatMap(valuesOf(measure))));
    return axes.map((axis, column) => drawPanel({ measure, axis, row, column, top, results }));
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="What a pod costs as the cluster grows">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="page" width="${width}" height="${height}"/>`,
    text({ x: PANEL.left, y: 24, words: "What a gated pod costs as the cluster grows", look: "title" }),
    text({ x: PANEL.left, y: 42, words: machine, look: "quiet" }),
    ...panels,
    "</svg>\n",
  ].join("\n");
}

interface Panel {
  readonly measure: Measure;
  readonly axis: Axis;
  readonly row: number;
  readonly column: number;
  readonly top: number;
  readonly results: Readonly<Record<string, GrowthResult>>;
}

function drawPanel({ measure, axis, row, column, top, results }: Panel): string {
  const x = PANEL.left + column * (PANEL.width + PANEL.gapX);
  const y = PANEL.top + row * (PANEL.height + PANEL.gapY);
  const steps = AXES[axis];
  const xOf = (value: number): number => x + 16 + logShare(value, steps) * (PANEL.width - 32);
  const yOf = (value: number): number => y + PANEL.height - value / top * PANEL.height;
  // The limit has its own label; a number of the grid beside it would be written over it.
  const isClear = (value: number): boolean => Math.abs(yOf(value) - yOf(measure.limit ?? -top)) > 12;
  const measured = steps.flatMap((value) => {
    const result = results[nameOf(pointAt(axis, value))];
    return result === undefined ? [] : [{ value, result }];
  });
  return [
    ...(column === 0 ? [drawLegend(measure, { x, y: y - 10 })] : []),
    ...[0, top / 2, top].map((value) =>
      drawGridLine({ x, y: yOf(value), label: column === 0 && isClear(value) ? String(value) : "" })
    ),
    ...steps.map((value) =>
      text({ x: xOf(value), y: y + PANEL.height + 15, words: shorten(value), look: "quiet", anchor: "middle" })
    ),
    row < MEASURES.length - 1 ? "" : text({
      x: x + PANEL.width / 2,
      y: y + PANEL.height + 33,
      words: AXIS_TITLES[axis],
      look: "quiet",
      anchor: "middle",
    }),
    ...(measure.limit === undefined
      ? []
      : [drawLimit(measure.limit, { x, y: yOf(measure.limit), named: column === 0 })]),
    ...measure.series.map(({ read, labels = "above" }, number) =>
      drawSeries(
        measured.map(({ value, result }) => ({ x: xOf(value), y: yOf(read(result)), value: read(result) })),
        { number, labels },
      )
    ),
  ].join("\n");
}

interface Spot {
  readonly x: number;
  readonly y: number;
}

function drawSeries(
  spots: readonly (Spot & { readonly value: number })[],
  { number, labels }: { readonly number: number; readonly labels: "above" | "below" },
): string {
  const line = spots.map(({ x, y }) => `${round(x)},${round(y)}`).join(" ");
  const dots = spots.map(({ x, y }) => `<circle class="series s${number}" cx="${round(x)}" cy="${round(y)}" r="3"/>`);
  const numbers = spots.filter(({ value }) => value !== 0).map(({ x, y, value }) =>
    text({
      x,
      y: labels === "below" ? y + 17 : y - 7,
      words: value >= 100 ? value.toFixed(0) : value.toFixed(value < 10 ? 2 : 1),
      look: `series label s${number}`,
      anchor: "middle",
    })
  );
  return [`<polyline class="series s${number}" points="${line}"/>`, ...dots, ...numbers].join("");
}

function drawLegend({ title, series }: Measure, { x, y }: Spot): string {
  const names = series.length === 1 ? "" : series
    .map(({ name }, number) => `<tspan class="series s${number}" dx="14">— ${name}</tspan>`)
    .join("");
  return `<text x="${x - 44}" y="${y - 6}"><tspan font-weight="600">${title}</tspan>${names}</text>`;
}

function drawGridLine({ x, y, label }: Spot & { readonly label: string }): string {
  const line = `<line class="grid" x1="${x}" x2="${x + PANEL.width}" y1="${round(y)}" y2="${round(y)}"/>`;
  return line + text({ x: x - 8, y: y + 4, words: label, look: "quiet", anchor: "end" });
}

function drawLimit(limit: number, { x, y, named }: Spot & { readonly named: boolean }): string {
  const line = `<line class="limit" x1="${x}" x2="${x + PANEL.width}" y1="${round(y)}" y2="${round(y)}"/>`;
  return named ? line + text({ x: x - 8, y: y + 4, words: `≤ ${limit}`, look: "limit-text", anchor: "end" }) : line;
}

function text(
  { x, y, words, look, anchor = "start" }: Spot & {
    readonly words: string;
    readonly look: string;
    readonly anchor?: "start" | "middle" | "end";
  },
): string {
  if (words === "") return "";
  return `<text class="${look}" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escape(words)}</text>`;
}

function valuesOf({ series }: Measure): (result: GrowthResult) => readonly number[] {
  return (result) => series.map(({ read }) => read(result));
}

/** Where the value lies between the first (0) and the last step (1), by its logarithm. */
function logShare(value: number, steps: readonly number[]): number {
  const [first = 1, last = 1] = [steps[0], steps.at(-1)];
  return Math.log(value / first) / Math.log(last / first);
}

/** The next of 1, 2, 4 or 6 times a power of ten, with room for a label above the largest value. */
function niceTop(largest: number): number {
  const wanted = largest * 1.15;
  const power = 10 ** Math.floor(Math.log10(wanted));
  return power * ([1, 2, 4, 6].find((factor) => factor * power >= wanted) ?? 10);
}

function shorten(value: number): string {
  return value >= 1_000 ? `${value / 1_000}k` : String(value);
}

function round(value: number): string {
  return value.toFixed(1);
}

function escape(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
