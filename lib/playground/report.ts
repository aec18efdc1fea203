// The outcomes of the samples, as an aligned table or as JSON. Pure.
import { stringify } from "yaml";
import type { SampleOutcome } from "./outcomes.ts";

const HEADER = ["POD", "IMAGES", "ARCHITECTURES", "DECISION", "NODE", "AS EXPECTED"] as const;

/** The table, one line a pod, with a trailing newline. `registryHost` is left out of the images. Colour only on request. */
export function renderOutcomeTable(
  outcomes: readonly SampleOutcome[],
  options: { readonly registryHost: string; readonly color: boolean },
): string {
  const rows = outcomes.map((outcome) => ({ ok: outcome.ok, cells: renderCells(outcome, options.registryHost) }));
  const widths = HEADER.map((title, index) =>
    Math.max(title.length, ...rows.map(({ cells }) => cells[index]?.length ?? 0))
  );
  const line = (cells: readonly string[]): string =>
    cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("   ").trimEnd();
  const lines = rows.map(({ ok, cells }) => paint(line(cells), { color: options.color, ok }));
  return `${[line(HEADER), ...lines].join("\n")}\n`;
}

function renderCells(outcome: SampleOutcome, registryHost: string): readonly string[] {
  const { node, nodeArchitecture, expected } = outcome;
  return [
    outcome.pod,
    outcome.images.map((image) => image.replace(`${registryHost}/`, "")).join(", "),
    outcome.architectures.length === 0 ? "-" : outcome.architectures.join(", "),
    outcome.decision,
    nodeArchitecture === undefined || node.includes(nodeArchitecture) ? node : `${node} (${nodeArchitecture})`,
    outcome.ok ? "yes" : `no: ${renderExpectation(expected)}`,
  ];
}

function renderExpectation(expected: SampleOutcome["expected"]): string {
  if (expected === undefined) return "anything";
  const architectures = expected.architectures.join(", ") || "-";
  return `${expected.decision}, ${architectures}, ${expected.nodes.join(" or ") || "Pending"}`;
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
