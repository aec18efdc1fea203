// `archway ungate`: removes Archway's gate from every pod by hand, also when no Archway runs.
import { ungateAll, type UngateResults } from "../placement/cluster/ungate.ts";
import { type CommandOptions, ExitCode, print, renderTable } from "./output.ts";
import type { ReportDeps } from "./report.ts";

const UNPLACED = "Pods released by hand may land on nodes that their images do not support.";
const TRY_AGAIN = "Fix what the reasons name, then run it again.";

/** Ungates the pods and prints each; returns the exit code: 1 when some are left. */
export async function runUngate(
  { api, terminal, signal }: Pick<ReportDeps, "api" | "terminal" | "signal">,
  { dryRun, output }: Omit<CommandOptions, "positionals">,
): Promise<number> {
  const result = await ungateAll(api, { signal, dryRun });
  const document = { dryRun, released: [...result.ungated].sort(), left: result.left };
  print(terminal, output, { document, text: (width) => renderUngate(result, { dryRun, width }) });
  return result.left.length === 0 ? ExitCode.done : ExitCode.no;
}

export function renderUngate(
  { ungated, left }: UngateResults,
  { dryRun, width }: { readonly dryRun: boolean; readonly width?: number | undefined },
): string {
  const verb = dryRun ? "would release" : "released";
  if (ungated.length + left.length === 0) return "No pod holds Archway's gate.\n";
  const rows = [
    ...[...ungated].sort().map((pod) => [pod, verb, ""]),
    ...left.map(({ pod, reason }) => [pod, "still gated", reason]),
  ];
  const counts = `${ungated.length} ${verb}, ${left.length} still gated.`;
  return `${renderTable(["POD", "RESULT", "REASON"], rows, width)}\n${counts} ${
    ungated.length > 0 ? UNPLACED : TRY_AGAIN
  }\n`;
}
