// The report of a cluster as text for users. Pure.
import { isKnownArchitecture } from "../arch.ts";
import { NODE_ARCH_LABEL } from "../names.ts";
import type { ArchitectureTotals, ClusterReport, ReportedImage } from "../report/decide/cluster_report.ts";
import { type Blocker, workloadNameOf, type WorkloadSupport } from "../report/decide/types.ts";
import { assertNever } from "../parsed.ts";
import { renderTable } from "./output.ts";

export function renderReport({ totals, images, workloads }: ClusterReport, width?: number): string {
  if (workloads.length === 0) return "No workload was found.\n";
  return [
    renderTotals(totals, width),
    renderTable(["IMAGE", "ARCHITECTURES", "WORKLOADS"], images.map(imageRow), width),
    renderTable(["WORKLOAD", "RUNS ON"], workloads.map((one) => workloadRow(one, totals.length)), width),
  ].join("\n");
}

/** What keeps workloads from one architecture. Begins with a warning if no image names it: it may be misspelt. */
export function renderBlocked(
  { blocked = [], images, workloads }: ClusterReport,
  architecture: string,
  width?: number,
): string {
  const total = workloads.length;
  if (total === 0) return "No workload was found.\n";
  if (blocked.length === 0) return `All ${total} workloads run on ${architecture}.\n`;
  const rows = blocked.flatMap((workload) =>
    workload.blockers.map((blocker, at) => [
      at === 0 ? workloadNameOf(workload) : "",
      at === 0 ? workload.verdict : "",
      describeBlocker(blocker, architecture),
    ])
  );
  const unknown = blocked.filter(({ verdict }) => verdict === "unknown").length;
  const counts = `${blocked.length - unknown} of ${total} workloads do not run on ${architecture}` +
    `${unknown === 0 ? "" : `; of ${unknown} it is not known`}.\n`;
  const isNamed = isKnownArchitecture(architecture) ||
    images.some(({ architectures }) => architectures.includes(architecture));
  const table = renderTable(["WORKLOAD", architecture.toUpperCase(), "WHY"], rows, width);
  return `${isNamed ? "" : `${unnamed(architecture)}\n`}${table}\n${counts}`;
}

export function renderUnlabelledNodes(names: readonly string[], width?: number): string {
  return renderTable(
    ["NODE", "WHY NO PLACED POD GOES THERE"],
    names.map((name) => [name, `no label ${NODE_ARCH_LABEL}`]),
    width,
  );
}

function unnamed(architecture: string): string {
  return `No image that could be inspected names ${architecture}. Nodes have the names in their label ${NODE_ARCH_LABEL}.\n`;
}

/** One sentence for each registry that needs a flag before it can be asked. */
export function undeclaredRegistries(images: readonly ReportedImage[]): readonly string[] {
  const denied = images.flatMap(({ failure }) => failure?.reason === "AddressDenied" ? [failure.message] : []);
  return [...new Set(denied)];
}

function describeBlocker(blocker: Blocker, architecture: string): string {
  switch (blocker.kind) {
    case "lacking":
      return `${blocker.image} has ${blocker.architectures.join(", ") || "nothing for its operating system"}`;
    case "failed":
      return `${blocker.image} claims ${architecture}, but its program has failed there`;
    case "constrained":
      return `it constrains itself to ${blocker.to.join(", ") || "other architectures"}`;
    case "unknown":
      return `${blocker.image} could not be inspected (${blocker.reason})`;
    default:
      return assertNever(blocker);
  }
}

function renderTotals(totals: readonly ArchitectureTotals[], width?: number): string {
  const rows = totals.map((one) => [one.architecture, ...[one.runs, one.blocked, one.unknown].map(String)]);
  return renderTable(["ARCHITECTURE", "WORKLOADS THAT RUN", "BLOCKED", "UNKNOWN"], rows, width);
}

function imageRow({ image, architectures, failedOn, failure, workloads }: ReportedImage): readonly string[] {
  const named = architectures.map((one) => failedOn.includes(one) ? `${one} (fails)` : one).join(", ");
  return [image, failure === undefined ? named || "none" : failure.reason, String(workloads)];
}

function workloadRow(workload: WorkloadSupport, candidates: number): readonly string[] {
  const { architectures, constrainedTo, isKnown } = workload;
  const isMismatched = isKnown && architectures.length === 0 && constrainedTo !== undefined;
  const notes = [
    ...constrainedTo === undefined ? [] : [isMismatched ? mismatch(workload, constrainedTo) : "constrains itself"],
    ...isKnown ? [] : ["not all of its images could be inspected"],
  ];
  const named = architectures.join(", ") || "none";
  const atMost = architectures.length === candidates ? "unknown" : `unknown, at most ${named}`;
  const where = isKnown || architectures.length === 0 ? named : atMost;
  return [workloadNameOf(workload), notes.length === 0 ? where : `${where} (${notes.join("; ")})`];
}

function mismatch({ images }: WorkloadSupport, constrainedTo: readonly string[]): string {
  const lacking = images.filter(({ architectures }) => !architectures.some((one) => constrainedTo.includes(one)));
  const has = lacking.map(({ image, architectures }) => `${image} has ${architectures.join(", ") || "none"}`);
  return `names ${constrainedTo.join(", ") || "none"}; ${has.join("; ") || "its images share none of them"}`;
}
