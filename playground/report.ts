// The outcomes of the samples, as an aligned table or as JSON. Pure.
import { renderTable } from "../lib/cli/output.ts";
import type { SampleOutcome } from "./outcomes.ts";
import { SAMPLE_NAMESPACE } from "./samples.ts";

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
  const rows = outcomes.map((outcome) => columns.map(([, cellOf]) => cellOf(outcome)));
  const [titles = "", ...lines] = renderTable(columns.map(([title]) => title), rows).trimEnd().split("\n");
  const painted = outcomes.map(({ ok }, at) => paint(lines[at] ?? "", { color: options.color, ok }));
  return `${[titles, ...painted, ...renderReports(outcomes, options.registryHost)].join("\n")}\n`;
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

/** The messages of the events, for users who want to read them. */
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
  /** File with the login of the user who may push. */
  readonly settings: string;
  /** How `archway` is run here. */
  readonly archway: string;
  /** Name of a sample pod; empty where there are none, but a node image. */
  readonly sample: string;
}

/** What `archway dev` prints when it keeps running: how to inspect it with Archway's commands and with kubectl. */
export function renderWelcome(welcome: Welcome): string {
  const { apiUrl, registryHost, dashboardUrl, kubeconfig, authority, settings, archway, sample } = welcome;
  const registry = `--registry ${registryHost} --registry-ca ${authority}`;
  const image = (name: string): string => `${registryHost}/demo/${name}:v1`;
  const push = `--config ${settings} --to ${image("joined")}`;
  return [
    `API server   ${apiUrl}`,
    `registry     ${registryHost}`,
    `dashboard    ${dashboardUrl}`,
    `kubeconfig   ${kubeconfig}`,
    "",
    "Try:",
    ...sample === "" ? buildHints(welcome) : podHints(welcome, { registry, image: image("edge") }),
    `  ${archway} inspect ${registry} ${image("edge")}`,
    `  ${archway} index assemble ${registry} ${push} ${image("legacy")} ${image("edge")}`,
    `  kubectl --kubeconfig ${kubeconfig} events`,
    "It reads JSON and YAML from files (kubectl create -f, apply -f) and kubectl run; where a kubectl without server-side",
    "validation complains, add --validate=false.",
    "",
  ].join("\n");
}

function podHints(
  { archway, kubeconfig, sample }: Welcome,
  { registry, image }: { readonly registry: string; readonly image: string },
): readonly string[] {
  return [
    `  ${archway} explain --kubeconfig ${kubeconfig} ${SAMPLE_NAMESPACE}/${sample}`,
    `  ${archway} report --arch arm64 --kubeconfig ${kubeconfig} ${registry}`,
    `  kubectl --kubeconfig ${kubeconfig} get pods -w -o 'custom-columns=${POD_COLUMNS}'`,
    `  kubectl --kubeconfig ${kubeconfig} run hello --image=${image}`,
  ];
}

/** The API server has no Tables: kubectl's own columns of a pod would be its name and its age. */
const POD_COLUMNS = "NAME:.metadata.name,STATUS:.status.phase,GATES:.spec.schedulingGates[*].name,NODE:.spec.nodeName";

/** Where placement does not run, pods of images for one architecture would start anywhere and fail. */
function buildHints({ dashboardUrl, kubeconfig }: Welcome): readonly string[] {
  const columns = String.raw`NAME:.metadata.name,ARCHITECTURES:.metadata.annotations.archway\.dev/arch-status`;
  return [
    `  kubectl --kubeconfig ${kubeconfig} get machineosbuilds -o custom-columns='${columns}'`,
    `  kubectl --kubeconfig ${kubeconfig} get machineosbuilds,machineosconfigs -o yaml`,
    `  curl ${dashboardUrl}builds`,
  ];
}
