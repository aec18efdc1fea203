// The outcomes of the samples, as an aligned table or as JSON. Pure.
import { paint, renderRows, renderTable } from "../lib/cli/output.ts";
import type { SampleOutcome } from "./outcomes.ts";
import type { Playground, PlaygroundFiles } from "./playground.ts";
import type { Scenario } from "./samples.ts";
import { SAMPLE_NAMESPACE } from "./sample_cluster.ts";
import WELCOME from "./welcome.txt" with { type: "text" };

type Column = readonly [title: string, cellOf: (outcome: SampleOutcome) => string];

/**
 * The table, and below it what was expected, why, and what was reported; without `registryHost` and columns that do not
 * fit.
 */
export function renderOutcomeTable(
  outcomes: readonly SampleOutcome[],
  options: { readonly registryHost: string; readonly color: boolean; readonly columns?: number | undefined },
): string {
  const columns = columnsFor(outcomes, options.registryHost);
  const rows = outcomes.map((outcome) => columns.map(([, cellOf]) => cellOf(outcome)));
  const [titles = "", ...texts] = renderRows(columns.map(([title]) => title), rows, options.columns);
  const painted = outcomes.map(({ ok }, at) => paintRow(texts[at] ?? "", { color: options.color, ok }));
  const below = [
    ...outcomes.flatMap(({ ok, pod, expected }) => ok ? [] : `${pod}: expected ${renderExpectation(expected)}`),
    ...outcomes.flatMap(({ pod, report }) => report === undefined ? [] : `${pod}: ${report}`),
  ].map((line) => `\n${line.replaceAll(`${options.registryHost}/`, "")}\n`);
  return [titles, ...painted, ...renderReasons(outcomes, options.columns), ...below].join("");
}

/** The most important first. Reports and tolerations have a column where any are expected. */
function columnsFor(outcomes: readonly SampleOutcome[], registryHost: string): readonly Column[] {
  const reported: Column = ["REPORTED", ({ report }) => report === undefined ? "no" : "yes"];
  const hasReports = outcomes.some(({ expected, report }) => (expected?.reported ?? report) !== undefined);
  const tolerates: Column = ["TOLERATES", (outcome) => outcome.tolerates.join(", ") || "-"];
  const tolerations = outcomes.some(({ expected }) => expected?.tolerates !== undefined) ? [tolerates] : [];
  return [
    ["POD", ({ pod }) => pod],
    ["ARCHITECTURES", ({ architectures }) => architectures.join(", ") || "-"],
    ["DECISION", ({ decision }) => decision],
    ["NODE", renderNode],
    ...hasReports ? [reported] : tolerations,
    ["OK", ({ ok }) => ok ? "yes" : "no"],
    ...hasReports ? tolerations : [],
    ["IMAGES", ({ images }) => images.map((image) => image.replace(`${registryHost}/`, "")).join(", ")],
  ];
}

function renderReasons(outcomes: readonly SampleOutcome[], width: number | undefined): readonly string[] {
  const reasons = outcomes.flatMap(({ pod, expected }) => expected?.why === undefined ? [] : [[pod, expected.why]]);
  return reasons.length === 0 ? [] : ["\n", renderTable(["POD", "WHY"], reasons, width)];
}

function renderNode({ node, nodeArchitecture }: SampleOutcome): string {
  return nodeArchitecture === undefined || node.includes(nodeArchitecture) ? node : `${node} (${nodeArchitecture})`;
}

function renderExpectation(expected: SampleOutcome["expected"]): string {
  if (expected === undefined) return "anything";
  const { decision, architectures, nodes, reported } = expected;
  const report = reported === undefined ? "" : reported ? ", reported" : ", not reported";
  return `${decision}, ${architectures.join(", ") || "-"}, ${nodes.join(" or ") || "Pending"}${report}`;
}

function paintRow(row: string, { color, ok }: { readonly color: boolean; readonly ok: boolean }): string {
  return color ? row.replaceAll(/.+/g, (line) => paint(line, ok ? "green" : "red")) : row;
}

interface Welcome
  extends Pick<Playground, "apiUrl" | "registryHost">, Pick<PlaygroundFiles, "kubeconfig" | "authority" | "settings"> {
  readonly dashboardUrl: string;
  readonly archway: string;
  /** Name of a sample pod; empty where the sample is a node image. */
  readonly sample: string;
  readonly scenario: Scenario;
}

/** What `archway dev` prints when it keeps running. Without placement, it suggests no pods to try: they would fail. */
export function renderWelcome(welcome: Welcome): string {
  const { sample, scenario, ...others } = welcome;
  const wanted: readonly string[] = [sample === "" ? "builds" : "pods", scenario];
  const lines = WELCOME.split("\n").flatMap((line) => {
    const [, only, text = line] = /^(pods|builds|taints)\|(.*)$/.exec(line) ?? [];
    return only === undefined || wanted.includes(only) ? [text] : [];
  });
  const values: Readonly<Record<string, string>> = { ...others, sample: `${SAMPLE_NAMESPACE}/${sample}` };
  return lines.join("\n").replaceAll(/\{(\w+)\}/g, (mark, name: string) => values[name] ?? mark);
}
