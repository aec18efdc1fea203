// The outcomes of the samples, as an aligned table or as JSON. Pure.
import { stringify } from "yaml";
import type { SampleOutcome } from "./outcomes.ts";

/** A column: its title, and what it says of a pod. */
type Column = readonly [title: string, cellOf: (outcome: SampleOutcome) => string];

/**
 * The table, one line a pod, with a trailing newline, and below it what was reported. `registryHost` is left out of the
 * images. Colour only on request.
 */
export function renderOutcomeTable(
  outcomes: readonly SampleOutcome[],
  options: { readonly registryHost: string; readonly color: boolean },
): string {
  const columns = columnsFor(outcomes, options.registryHost);
  const rows = outcomes.map((outcome) => ({ ok: outcome.ok, cells: columns.map(([, cellOf]) => cellOf(outcome)) }));
  const titles = columns.map(([title]) => title);
  const widths = titles.map((title, index) =>
    Math.max(title.length, ...rows.map(({ cells }) => cells[index]?.length ?? 0))
  );
  const line = (cells: readonly string[]): string =>
    cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("   ").trimEnd();
  const lines = rows.map(({ ok, cells }) => paint(line(cells), { color: options.color, ok }));
  return `${[line(titles), ...lines, ...renderReports(outcomes, options.registryHost)].join("\n")}\n`;
}

/** Reports have a column where any are expected. */
function columnsFor(outcomes: readonly SampleOutcome[], registryHost: string): readonly Column[] {
  const reported: Column = ["REPORTED", ({ report }) => report === undefined ? "no" : "yes"];
  const hasReports = outcomes.some(({ expected, report }) => (expected?.reported ?? report) !== undefined);
  return [
    ["POD", ({ pod }) => pod],
    ["IMAGES", ({ images }) => images.map((image) => image.replace(`${registryHost}/`, "")).join(", ")],
    ["ARCHITECTURES", ({ architectures }) => architectures.join(", ") || "-"],
    ["DECISION", ({ decision }) => decision],
    ["NODE", renderNode],
    ...hasReports ? [reported] : [],
    ["AS EXPECTED", ({ ok, expected }) => ok ? "yes" : `no: ${renderExpectation(expected)}`],
  ];
}

function renderNode({ node, nodeArchitecture }: SampleOutcome): string {
  return nodeArchitecture === undefined || node.includes(nodeArchitecture) ? node : `${node} (${nodeArchitecture})`;
}

/** The words of the events, for those who want to know what a report says. */
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

/** The same as a list in JSON or YAML, with a trailing newline. */
export function renderOutcomeDocument(outcomes: readonly SampleOutcome[], form: "json" | "yaml"): string {
  return form === "json" ? `${JSON.stringify(outcomes, null, 2)}\n` : stringify(outcomes);
}

/** Where everything is, and how to look at it with kubectl: what `archway dev` prints when it keeps running. */
export function renderWelcome(
  addresses: {
    readonly apiUrl: string;
    readonly registryHost: string;
    readonly kubeconfig: string;
    readonly dashboardUrl: string;
  },
): string {
  const kubectl = `kubectl --kubeconfig ${addresses.kubeconfig}`;
  return [
    `API server   ${addresses.apiUrl}`,
    `registry     ${addresses.registryHost}`,
    `dashboard    ${addresses.dashboardUrl}`,
    `kubeconfig   ${addresses.kubeconfig}`,
    "",
    "Try:",
    `  ${kubectl} get pods -o wide -w`,
    `  ${kubectl} get events`,
    `  ${kubectl} run hello --image=${addresses.registryHost}/demo/edge:v1`,
    "It reads JSON and YAML from files (kubectl create -f, apply -f) and kubectl run; where a kubectl without server-side",
    "validation complains, add --validate=false.",
    "",
  ].join("\n");
}
