// The original's controllers of pools beside a control plane, and the record of what they did.
import type { ClusterAccess } from "../../cluster/support/cluster_access.ts";
import { RunningProcess } from "../../cluster/support/process.ts";
import { runCommand } from "../../support/commands.ts";

export const PROGRAM = "../programs/machine-config-operator/cmd/archway-pool-controllers/main.go";

export interface OriginalRecord {
  readonly original: { readonly repository: string; readonly commit: string };
  readonly program: { readonly path: string; readonly sha256: string };
  readonly recorded: string;
}

export function startControllers(
  copy: string,
  { directory, kubeconfigFile }: ClusterAccess,
  args: readonly string[] = [],
): RunningProcess {
  return RunningProcess.start({
    name: "pool-controllers",
    command: `${copy}/archway-pool-controllers`,
    args: [`--kubeconfig=${kubeconfigFile}`, ...args],
    directory,
  });
}

export async function headOf(copy: string, program: OriginalRecord["program"]): Promise<OriginalRecord> {
  const commit = (await runCommand("git", ["-C", copy, "rev-parse", "HEAD"])).trim();
  return {
    original: { repository: "github.com/openshift/machine-config-operator", commit },
    program,
    recorded: new Date().toISOString().slice(0, 10),
  };
}

/** An object that was seen is one line. */
export function renderRecord(record: OriginalRecord): string {
  const text = JSON.stringify(record, (_, value: unknown) => {
    return value instanceof Object && "metadata" in value ? JSON.stringify(value) : value;
  }, 2);
  return `${text.replace(/"\{.*"/g, (line) => JSON.parse(line))}\n`;
}
