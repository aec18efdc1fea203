// The outcomes of the samples, as an aligned table or as JSON. Pure.
import { renderTable } from "../lib/cli/output.ts";
import type { SampleOutcome } from "./outcomes.ts";
import { SAMPLE_NAMESPACE } from "./samples.ts";
import WELCOME from "./welcome.txt" with { type: "text" };

type Column = readonly [title: string, cellOf: (outcome: SampleOutcome) => string];

/** The table, and below it why and what was reported. `registryHost` and columns that do not fit the terminal are left out. */
export function renderOutcomeTable(
  outcomes: readonly SampleOutcome[],
  options: { readonly registryHost: string; readonly color: boolean; readonly columns?: number | undefined },
): string {
  const columns = columnsFor(outcomes, options.registryHost);
  const rows = outcomes.map((outcome) => columns.map(([, cellOf]) => cellOf(outcome)));
  const table = renderTable(columns.map(([title]) => title), rows, options.columns);
  const [titles = "", ...lines] = table.trimEnd().split("\n");
  const painted = outcomes.map(({ ok }, at) => paint(lines[at] ?? "", { color: options.color, ok }));
  const below = [...renderReasons(outcomes), ...renderReports(outcomes, options.registryHost)];
  return `${[titles, ...painted, ...below].join("\n")}\n`;
}

/** The most important first. Reports and tolerations have a column where any are expected. */
function columnsFor(outcomes: readonly SampleOutcome[], registryHost: string): readonly Column[] {
  const reported: Column = ["REPORTED", ({ report }) => report === undefined ? "no" : "yes"];
  const hasReports = outcomes.some(({ expected, report }) => (expected?.reported ?? report) !== undefined);
  const tolerates: Column = ["TOLERATES", (outcome) => outcome.tolerates.join(", ") || "-"];
  const hasTolerations = outcomes.some(({ expected }) => expected?.tolerates !== undefined);
  return [
    ["POD", ({ pod }) => pod],
    ["ARCHITECTURES", ({ architectures }) => architectures.join(", ") || "-"],
    ["DECISION", ({ decision }) => decision],
    ["NODE", renderNode],
    ...hasReports ? [reported] : [],
    ["AS EXPECTED", ({ ok, expected }) => ok ? "yes" : `no: ${renderExpectation(expected)}`],
    ...hasTolerations ? [tolerates] : [],
    ["IMAGES", ({ images }) => images.map((image) => image.replace(`${registryHost}/`, "")).join(", ")],
  ];
}

function renderReasons(outcomes: readonly SampleOutcome[]): readonly string[] {
  const reasons = outcomes.flatMap(({ pod, expected }) => expected?.why === undefined ? [] : [[pod, expected.why]]);
  return reasons.length === 0 ? [] : ["", renderTable(["POD", "WHY"], reasons).trimEnd()];
}

function renderNode({ node, nodeArchitecture }: SampleOutcome): string {
  return nodeArchitecture === undefined || node.includes(nodeArchitecture) ? node : `${node} (${nodeArchitecture})`;
}

function renderReports(outcomes: readonly SampleOutcome[], registryHost: string): readonly string[] {
  return outcomes.flatMap(({ pod, report }) =>
    report === undefined ? [] : ["", `${pod}: ${report.replaceAll(`${registryHost}/`, "")}`]
  );
}

function renderExpectation(expected: SampleOutcome["expected"]): string {
  if (expected === undefined) return "anything";
  const { decision, architectures, nodes, reported } = expected;
  const report = reported === undefined ? "" : reported ? ", reported" : ", not reported";
  return `${decision}, ${architectures.join(", ") || "-"}, ${nodes.join(" or ") || "Pending"}${report}`;
}

function paint(line: string, options: { readonly color: boolean; readonly ok: boolean }): string {
  if (!options.color) return line;
  return `\x1b[${options.ok ? 32 : 31}m${line}\x1b[0m`;
}

export interface Welcome {
  readonly apiUrl: string;
  readonly registryHost: string;
  readonly dashboardUrl: string;
  readonly kubeconfig: string;
  readonly authority: string;
  readonly settings: string;
  readonly archway: string;
  /** Name of a sample pod; empty where there are none, but a node image. */
  readonly sample: string;
}

/** What `archway dev` prints when it keeps running. Where placement does not run, pods of one architecture would start anywhere and fail. */
export function renderWelcome(welcome: Welcome): string {
  const { sample, ...others } = welcome;
  const isFor = sample === "" ? "builds" : "pods";
  const lines = WELCOME.split("\n").flatMap((line) => {
    const [, only, text = line] = /^(pods|builds)\|(.*)$/.exec(line) ?? [];
    return only === undefined || only === isFor ? [text] : [];
  });
  const values: Readonly<Record<string, string>> = { ...others, sample: `${SAMPLE_NAMESPACE}/${sample}` };
  return lines.join("\n").replaceAll(/\{(\w+)\}/g, (mark, name: string) => values[name] ?? mark);
}
