// `archway ungate`: lifts Archway's gate from every pod by hand, also when no Archway runs.
import type { KubeApi } from "../k8s/api.ts";
import { liftAllGates, type LiftedGates } from "../placement/cluster/lift_gates.ts";
import { type CommandOptions, ExitCode, print, renderTable, type Terminal } from "./output.ts";

const UNPLACED = "Pods released by hand may land on nodes that their images do not support.";
const TRY_AGAIN = "Fix what the reasons name, then run it again.";

/** Releases the pods and prints each; returns the exit code: 1 when some could not be released. */
export async function runUngate(
  deps: { readonly api: KubeApi; readonly terminal: Terminal },
  options: Omit<CommandOptions, "positionals">,
): Promise<number> {
  const { api, terminal } = deps;
  const { dryRun, output, signal } = options;
  const release = await liftAllGates(api, { signal, dryRun });
  const document = { dryRun, released: [...release.released].sort(), left: release.left };
  print(terminal, output, { document, text: (width) => renderUngate(release, { dryRun, width }) });
  return release.left.length === 0 ? ExitCode.done : ExitCode.no;
}

export function renderUngate(
  { released, left }: LiftedGates,
  { dryRun, width }: { readonly dryRun: boolean; readonly width?: number | undefined },
): string {
  const verb = dryRun ? "would release" : "released";
  if (released.length + left.length === 0) return "No pod holds Archway's gate.\n";
  const rows = [
    ...[...released].sort().map((pod) => [pod, verb, ""]),
    ...left.map(({ pod, reason }) => [pod, "still gated", reason]),
  ];
  const counts = `${released.length} ${verb}, ${left.length} still gated.`;
  return `${renderTable(["POD", "RESULT", "REASON"], rows, width)}\n${counts} ${
    released.length > 0 ? UNPLACED : TRY_AGAIN
  }\n`;
}
