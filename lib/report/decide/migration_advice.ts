// What a migrated cluster reports: the workloads that run on one architecture only, and what is not known.
import { nameSome } from "../../vocabulary/condition.ts";
import { singleArchitectureWorkloads } from "./support.ts";
import { workloadNameOf, type WorkloadSupport } from "./types.ts";

/** Most names in a sentence, because sentences are part of a condition. */
const NAMES_SHOWN = 5;

interface LeftOut {
  readonly unread: readonly string[];
  /** False when the cluster has more workloads than are read. */
  readonly isComplete: boolean;
}

/** One sentence per architecture, then those about what is unknown; none if all are known to run on several. */
export function adviseAfterMigration(
  workloads: readonly WorkloadSupport[],
  { unread, isComplete }: LeftOut,
): readonly string[] {
  return [
    ...adviseOnKnown(workloads),
    ...unread.length === 0 ? [] : [`Not looked at, for want of rights: ${unread.join(", ")}.`],
    ...isComplete ? [] : ["The cluster has more workloads than were looked at: see `archway report`."],
  ];
}

function adviseOnKnown(workloads: readonly WorkloadSupport[]): readonly string[] {
  const single = singleArchitectureWorkloads(workloads);
  const architectures = [...new Set(single.map(({ architecture }) => architecture))].toSorted();
  const known = architectures.map((architecture) => {
    const names = single.filter((one) => one.architecture === architecture).map((one) => workloadNameOf(one.workload));
    return `${count(names.length, "runs", "run")} on ${architecture} only: ${shorten(names)}.`;
  });
  const unknown = workloads.filter(({ isKnown }) => !isKnown).map(workloadNameOf);
  if (unknown.length === 0) return known;
  return [...known, `${count(unknown.length, "has", "have")} images that could not be inspected: ${shorten(unknown)}.`];
}

function count(number: number, one: string, several: string): string {
  return number === 1 ? `1 workload ${one}` : `${number} workloads ${several}`;
}

function shorten(names: readonly string[]): string {
  return nameSome(names.toSorted(), NAMES_SHOWN);
}
