// docs/figures.md from the committed results: every number, target, bed and judgement comes from there. Pure.
import type { AttackResult, Origin } from "./attack_bed.ts";
import type { GrowthResult } from "./growth_point.ts";
import { cellsOf, COLUMNS as GROWTH_COLUMNS, type GrowthEntry } from "./growth_table.ts";
import type { MachineFacts } from "./machine.ts";
import { describeSpread, describeTarget, formatNumber, isMet, type Row } from "./table.ts";

export interface ClusterEntry {
  readonly machine: MachineFacts;
  readonly cluster: string;
  readonly bed: string;
  readonly pods: number;
  readonly rounds: number;
  readonly rows: readonly Row[];
}

/** `indexes` of results/indexes.json: image indexes, and copies between registries. */
export interface IndexesEntry {
  readonly machine: MachineFacts;
  readonly rows: readonly Row[];
}

/** `full` of results/attack.json. */
export interface AttackEntry {
  readonly machine: MachineFacts;
  readonly results: Readonly<Partial<Record<Origin, AttackResult>>>;
}

export interface Results {
  readonly cluster: Readonly<Record<string, ClusterEntry>>;
  readonly indexes: IndexesEntry | undefined;
  readonly growth: readonly GrowthEntry[];
  /** The point of a large cluster. */
  readonly large?: GrowthResult | undefined;
  readonly attack?: AttackEntry | undefined;
}

type Section = readonly [name: string, title: string, command: string];

/** What `deno task figures --run` measures on a cluster, in the page's order, and how each is measured by itself. */
const COMPARED: readonly Section[] = [
  ["webhook", "The webhook alone", "deno task bench:cluster --only B1"],
  ["bursts", "Bursts and start", "deno task bench:cluster --only B2,B3,B7"],
  ["registry cost", "Requests to registries", "deno task bench:cluster --only B4"],
  ["size", "Memory and CPU", "deno task bench:cluster --only B5,B6"],
  ["registry faults", "Failing registries", "deno task bench:cluster --only B8"],
  ["upgrades", "Upgrades", "deno task bench:cluster --only U1"],
];

/** What `deno task figures --run --long` measures on a cluster. */
const LONG: readonly Section[] = [
  ["node", "As installed on nodes", "deno task bench:node"],
  ["taints", "Architecture taints of 5 000 nodes", "deno task bench:taints"],
];

const INTRO = `# Figures

Made by \`deno task figures\` from \`tests/bench/results\`; do not edit. What is compared ran alternately in one go, on one
machine, each round and each contender of a burst on a control plane of its own; medians of the rounds are shown and judged, with the least and
the most beside them. Absolute numbers move with the machine, ratios less so. Archway, the floors and the load generators are processes of
their own, and Archway runs as the manifests run it: mounted account, bounded heap, cache file, TLS.
The floors: a Hono echo that parses the review on the same listener; a patcher that takes the gate off pods, of 16 workers unless
its name says otherwise; webhooks that give every pod the same answer. A burst lasts from its first pod's creation until every pod is seen without Archway's gate; its gate p50 is the
median wait of the gated ones; a cold image is new to Archway, a warm one known. The Multiarch Tuning Operator (MTO) is measured
in the same go where \`--mto\` names a copy of it, at failing registries in the first round.`;

const HIDDEN = `## What the numbers hide

- With every pod gated Archway adds to the patcher's one write the webhook call, a watch event and up to three events a pod (the
  MTO's reasons), and all of it shares the machine with the API server. Warm admission is the default, and the answer.
- When more than 20 000 events wait, Normal events are dropped first. A pod whose events are dropped costs less,
  so a good CPU figure counts only beside a row of none dropped.
- Two or three reconciles at the beginning of a migration read the port of a service and a pull secret, which are not kept.
  These are the two reads above the limit.
- All but "As installed on nodes" is measured outside of containers. The image form \`binary\` has never been run: the base of
  \`deno compile\` could not be had where these figures are made.
- Nearly all of the image as pulled is Deno's program, which is had in one size only.`;

const GROWTH = `## How it grows

\`deno task bench:growth\` changes one of pods, images, nodes and configured namespaces at a time (one replica, a real API server
without scheduler, a registry in memory, each point once; raw: \`tests/bench/results/growth.json\`).`;

const BREAKS = `## How it breaks

\`deno task chaos\` puts the faults of registry, API server, etcd, cache, clock and replicas to two replicas under load
([results](../tests/chaos/results.md)). "Recovered" of a killed leader counts from when the other one leads; "given up" is any
Warning on the pod, the scheduler's included; "missed" pods came while nothing answered the webhook. \`deno task soak --minutes 30\` lets
everything come and go at once ([results](../tests/chaos/soak.md)). The page of the faults names its commit; that of the soak is older, from before today's Lease.`;

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function describeMachine({ cores, cpu, memoryMb, deno, commit, date }: MachineFacts): string {
  const memory = `${Math.round(memoryMb / 1_024)} GB`;
  return `${cores} cores of ${cpu}, ${memory}, Deno ${deno}, commit \`${commit}\`, ${date.slice(0, 10)}`;
}

function renderRow(measured: Row, bed: string): string {
  const { measure, archway, spread, baseline, target, reference } = measured;
  const met = isMet(measured);
  return row([
    measure,
    formatNumber(archway),
    spread === undefined ? "–" : describeSpread(spread),
    baseline === undefined ? "–" : `${baseline.name} ${formatNumber(baseline.value)}`,
    baseline === undefined ? "–" : (archway / baseline.value).toFixed(2),
    describeTarget(target),
    met === undefined ? "–" : met ? "yes" : "**no**",
    bed,
    reference === undefined ? "–" : formatNumber(reference),
  ]);
}

const COLUMNS = ["Measure", "Archway", "Least – most", "Floor", "Ratio", "Target", "Met", "Bed", "MTO"];

function renderTable(rows: readonly Row[], bed: string): readonly string[] {
  return [row(COLUMNS), row(COLUMNS.map(() => "---")), ...rows.map((each) => renderRow(each, bed)), ""];
}

/** On what each result was measured that one go of `deno task figures --run` has; undefined of those that were not. */
export function machinesCompared({ cluster, indexes }: Results): readonly (MachineFacts | undefined)[] {
  return [...COMPARED.map(([name]) => cluster[name]), indexes].map((entry) => entry?.machine);
}

/** The machines and commits of these; one when it was one go. */
export function comparedOn(results: Results): readonly string[] {
  const goes = machinesCompared(results).map((machine) => machine === undefined ? "not measured" : describeGo(machine));
  return [...new Set(goes)];
}

/** Without the time: a go takes most of an hour. */
function describeGo(machine: MachineFacts): string {
  return describeMachine({ ...machine, date: "" }).replace(/, $/, "");
}

function renderOneGo(results: Results): readonly string[] {
  const [go, ...others] = comparedOn(results);
  if (others.length > 0) return ["The tables below are not of one go: each names its commit.", ""];
  return [`All tables above "As installed on nodes" are of one go of \`deno task figures --run\`: ${go}.`, ""];
}

function renderSection([name, title, command]: Section, results: Results, isOneGo: boolean): readonly string[] {
  const entry = results.cluster[name];
  if (entry === undefined) return [`## ${title}`, "", `Not measured yet: \`${command}\`.`, ""];
  const rounds = `${entry.rounds} ${entry.rounds === 1 ? "round" : "rounds"}${
    entry.pods === 0 ? "" : `, ${entry.pods} pods`
  }`;
  return [
    `## ${title}`,
    "",
    `\`${command}\`: ${rounds}; ${isOneGo ? "" : `${describeMachine(entry.machine)}; `}${entry.cluster}.`,
    "",
    ...renderTable(entry.rows, entry.bed),
  ];
}

function renderIndexes({ indexes }: Results): readonly string[] {
  const command = "deno task bench:indexes";
  const head = ["## Image indexes", ""];
  if (indexes === undefined) return [...head, `Not measured yet: \`${command}\`.`, ""];
  return [
    ...head,
    `\`${command}\`: what [\`archway index assemble\`](commands.md) takes beside registries on the same machine.`,
    `${describeMachine(indexes.machine)}.`,
    "",
    ...renderTable(indexes.rows, "real registries"),
  ];
}

export function renderAttack(attack: AttackEntry | undefined): readonly string[] {
  const head = ["## The webhook port under attack", ""];
  if (attack === undefined) return [...head, "Not measured yet: `deno task attack`.", ""];
  const columns = [
    ...["Attack", "p99 of reviews, ms", "before that, ms", "Ratio (≤ 3)"],
    ...["Most MB", "CPU ms a second", "Ungated pods"],
  ];
  const lines = Object.entries(attack.results).map(([origin, { quiet, attacked }]) => [
    origin === "nowhere" ? origin : `from ${origin}`,
    ...[attacked.p99Ms, quiet.p99Ms].map((value) => value.toFixed(0)),
    (attacked.p99Ms / quiet.p99Ms).toFixed(1),
    ...[attacked.maxRssMb, attacked.cpuMsPerSecond].map((value) => value.toFixed(0)),
    `${attacked.ungated} of ${attacked.count}`,
  ]);
  return [
    ...head,
    '`deno task attack`: reviews of the API server while others load the port as [security.md](security.md#under-attack) says. "Nowhere" is',
    `a port of another process that closes every connection. ${describeMachine(attack.machine)}.`,
    "",
    ...[columns, columns.map(() => "---"), ...lines].map(row),
    "",
  ];
}

/** The points were measured in one go or in several. */
function renderGrowth({ growth, large }: Results): readonly string[] {
  const measured = [...new Set(growth.map(({ machine }) => describeMachine(machine)))];
  const when = measured.length === 0 ? "Not measured yet." : `Measured on ${measured.join("; and on ")}.`;
  const table = [row(GROWTH_COLUMNS), row(GROWTH_COLUMNS.map(() => "---")), ...growth.map(cellsOf).map(row)];
  return [GROWTH, when, "", ...table, "", ...renderLarge(large)];
}

function renderLarge(large: GrowthResult | undefined): readonly string[] {
  const head = ["### A large cluster", ""];
  const { idle } = large ?? {};
  if (large === undefined || idle === undefined) {
    return [...head, "Not measured yet: `deno task bench:growth --large`.", ""];
  }
  const { point, cpuMsPerPod } = large;
  const kilobytes = (bytes: number): string => formatNumber(bytes / 1_024);
  const cells: readonly (readonly [string, string])[] = [
    ["CPU while nothing is gated, ms a minute", formatNumber(idle.cpuMsPerMinute)],
    ["GET and LIST of it, a minute (a sweep is among it)", formatNumber(idle.readsPerMinute)],
    ["answers to these, KB a minute", kilobytes(idle.answeredBytesPerMinute)],
    ["watched of it, KB a minute", kilobytes(idle.watchedBytesPerMinute)],
    ["memory idle, and most, MB", `${formatNumber(large.idleMb)}, ${formatNumber(large.peakMb)}`],
    [`CPU a gated pod of ${point.pods}, ms`, formatNumber(cpuMsPerPod)],
    ["writes, and events, a gated pod", `${formatNumber(large.writesPerPod)}, ${formatNumber(large.eventsPerPod)}`],
    ["gate p50, and p99, ms", `${formatNumber(large.gateP50Ms)}, ${formatNumber(large.gateP99Ms)}`],
  ];
  return [
    ...head,
    `${point.nodes} nodes, ${
      point.running ?? 0
    } running pods, ${point.namespaces} namespaces with a config, ${point.images} images;`,
    "objects without kubelets on a real API server (`deno task bench:growth --large`).",
    "",
    row(["Measure", "Archway"]),
    row(["---", "---"]),
    ...cells.map(row),
    "",
    `Where one leader ends: processor time is the limit. One core is used up by ${
      (1_000 / cpuMsPerPod).toFixed(0)
    } gated pods a second. Beyond that they wait, and are released in`,
    "turn, at the latest ungated by `--max-gate-age`. More replicas answer more webhooks and place more pods of known images",
    "at once; only the leader releases gated ones.",
    "",
  ];
}

export function renderFigures(results: Results): string {
  const isOneGo = comparedOn(results).length === 1;
  return [
    ...[INTRO, "", ...renderOneGo(results)],
    ...COMPARED.flatMap((section) => renderSection(section, results, isOneGo)),
    ...renderIndexes(results),
    ...LONG.flatMap((section) => renderSection(section, results, false)),
    ...renderAttack(results.attack),
    ...[HIDDEN, "", ...renderGrowth(results), BREAKS, ""],
  ].join("\n");
}
