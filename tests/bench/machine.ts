// The machine and the software that figures were measured with: they mean nothing without.
import { cpus, release, totalmem } from "node:os";
import { git } from "../support/git.ts";

export interface MachineFacts {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryMb: number;
  readonly kernel: string;
  readonly architecture: string;
  readonly deno: string;
  readonly v8: string;
  readonly commit: string;
  /** ISO 8601. */
  readonly date: string;
}

/** What a run writes itself does not make its checkout differ. */
const RESULTS = [":(top,exclude)tests/bench/results", ":(top,exclude)docs/figures.md"];

export async function readMachineFacts(): Promise<MachineFacts> {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: navigator.hardwareConcurrency,
    memoryMb: Math.round(totalmem() / 1_048_576),
    kernel: `${Deno.build.os} ${release()}`,
    architecture: Deno.build.arch,
    deno: Deno.version.deno,
    v8: Deno.version.v8,
    commit: await readCommit(),
    date: new Date().toISOString(),
  };
}

/** Version of the API server and what runs beside it, as the API server returns it. */
export function describeCluster(version: unknown): string {
  const text = typeof version === "object" && version !== null && "gitVersion" in version ? version.gitVersion : "";
  return `kube-apiserver ${text}`;
}

async function readCommit(): Promise<string> {
  try {
    const commit = await git("rev-parse", "--short=10", "HEAD");
    const changed = await git("status", "--porcelain", "--untracked-files=no", "--", ".", ...RESULTS);
    return changed === "" ? commit : `${commit}-dirty`;
  } catch {
    return "unknown";
  }
}
