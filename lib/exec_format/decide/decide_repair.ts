// Whether a pod that runs a program of another architecture is evicted, so that its owner makes another one.
import { entryOf } from "../../json.ts";
import { GateLabel, SCHEDULING_GATE } from "../../names.ts";
import type { PodView } from "../../placement/decide/types.ts";

export interface RepairFacts {
  readonly pod: PodView;
  readonly architecture: string;
  /** What Archway would require of the pod created anew; `unconstrained`: nothing; `unknown`: an image cannot be inspected. */
  readonly wouldRequire: readonly string[] | "unconstrained" | "unknown";
  readonly isPlaced: boolean;
  /** Architectures that nodes have; undefined when that is not known. */
  readonly liveArchitectures: readonly string[] | undefined;
}

export type LeaveReason =
  | "Ending"
  | "NoOwner"
  | "ExemptFromPlacement"
  | "NotPlacedHere"
  | "ImagesUnknown"
  | "NowhereElse";

export type RepairDecision = { readonly kind: "evict" } | { readonly kind: "leave"; readonly reason: LeaveReason };

/** Owners that make a pod again, and not on the same node: a DaemonSet would. */
const MAKES_AGAIN: readonly string[] = ["ReplicaSet", "ReplicationController", "StatefulSet", "Job"];

const RULES: readonly (readonly [reason: LeaveReason, holds: (facts: RepairFacts) => boolean])[] = [
  ["Ending", ({ pod }) => pod.deleting || !["Pending", "Running"].includes(pod.phase)],
  ["NoOwner", ({ pod }) => !pod.owners.some(({ kind, controller }) => controller && MAKES_AGAIN.includes(kind))],
  // The webhook saw it and left it alone, as it would the next one: a node name in the template, for instance.
  ["ExemptFromPlacement", ({ pod }) => entryOf(pod.labels, SCHEDULING_GATE) === GateLabel.notSet],
  ["NotPlacedHere", ({ isPlaced, wouldRequire }) => !isPlaced || wouldRequire === "unconstrained"],
  ["ImagesUnknown", ({ wouldRequire }) => wouldRequire === "unknown"],
  ["NowhereElse", ({ wouldRequire, architecture, liveArchitectures }) => {
    if (typeof wouldRequire === "string") return true;
    const isThere = (name: string): boolean => liveArchitectures?.includes(name) ?? true;
    return wouldRequire.includes(architecture) || !wouldRequire.some(isThere);
  }],
];

export function decideRepair(facts: RepairFacts): RepairDecision {
  const rule = RULES.find(([, holds]) => holds(facts));
  return rule === undefined ? { kind: "evict" } : { kind: "leave", reason: rule[0] };
}
