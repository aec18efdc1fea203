// The report of a cluster: its images, its workloads, how many run on each architecture, and what blocks one of them.
import { blockersOf } from "./support.ts";
import type { Blocker, ImageSupport, WorkloadName, WorkloadSupport } from "./types.ts";

export interface ReportedImage extends ImageSupport {
  readonly workloads: number;
}

export interface ArchitectureTotals {
  readonly architecture: string;
  readonly runs: number;
  readonly blocked: number;
  /** Workloads that nothing is known to block, but not all of whose images could be inspected. */
  readonly unknown: number;
}

interface BlockedWorkload extends WorkloadName {
  readonly verdict: "blocked" | "unknown";
  readonly blockers: readonly Blocker[];
}

export interface ClusterReport {
  readonly totals: readonly ArchitectureTotals[];
  readonly images: readonly ReportedImage[];
  readonly workloads: readonly WorkloadSupport[];
  readonly blocked?: readonly BlockedWorkload[];
}

export function reportOf(
  workloads: readonly WorkloadSupport[],
  { candidates, architecture }: { readonly candidates: readonly string[]; readonly architecture: string | undefined },
): ClusterReport {
  return {
    totals: candidates.map((candidate) => totalsOf(workloads, candidate)),
    images: imagesOf(workloads),
    workloads,
    ...architecture === undefined ? {} : { blocked: workloads.flatMap((one) => blockedBy(one, architecture) ?? []) },
  };
}

function blockedBy(workload: WorkloadSupport, architecture: string): BlockedWorkload | undefined {
  const blockers = blockersOf(workload, architecture);
  if (blockers.length === 0) return undefined;
  const { kind, namespace, name } = workload;
  const verdict = blockers.every((blocker) => blocker.kind === "unknown") ? "unknown" : "blocked";
  return { kind, namespace, name, verdict, blockers };
}

function totalsOf(workloads: readonly WorkloadSupport[], architecture: string): ArchitectureTotals {
  const blocked = workloads.flatMap((workload) => blockedBy(workload, architecture) ?? []);
  const unknown = blocked.filter(({ verdict }) => verdict === "unknown").length;
  return { architecture, runs: workloads.length - blocked.length, blocked: blocked.length - unknown, unknown };
}

/** One entry for each image. Where only some workloads could inspect it, their result counts. */
function imagesOf(workloads: readonly WorkloadSupport[]): readonly ReportedImage[] {
  const found = new Map<string, ReportedImage>();
  for (const image of workloads.flatMap(({ images }) => images)) {
    const other = found.get(image.image);
    const better = other === undefined || other.failure !== undefined ? image : other;
    const failedOn = [...new Set([...other?.failedOn ?? [], ...image.failedOn])].sort();
    found.set(image.image, { ...better, failedOn, workloads: (other?.workloads ?? 0) + 1 });
  }
  return [...found.values()].sort((a, b) => a.image < b.image ? -1 : 1);
}
