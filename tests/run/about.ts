// What a complete run was of: the commit, when, on which machine, and what was repeated or skipped. For the record of conformance.
import type { RunAbout } from "../conformance/run_record.ts";
import { git } from "../support/git.ts";
import type { PartResult } from "./run_part.ts";

function describeMachine(): string {
  const gib = Math.round(Deno.systemMemoryInfo().total / 2 ** 30);
  return `${navigator.hardwareConcurrency} cores, ${gib} GiB, ${Deno.build.os} ${Deno.osRelease()} ${Deno.build.arch}`;
}

export async function aboutRun(results: readonly PartResult[]): Promise<string> {
  const about: RunAbout = {
    commit: await git("rev-parse", "HEAD"),
    isClean: await git("status", "--porcelain") === "",
    date: new Date().toISOString().slice(0, 10),
    machine: describeMachine(),
    deno: Deno.version.deno,
    repeated: results.flatMap(({ again }) => again).toSorted(),
    skipped: results.flatMap(({ skipped }) => skipped).toSorted(),
  };
  return `${JSON.stringify(about)}\n`;
}
