// Whether a pod that runs a program of another architecture is evicted, so that its owner makes another one.
import { entryOf } from "../../json.ts";
import { GateLabel, SCHEDULING_GATE } from "../../names.ts";
import type { PodView } from "../../placement/decide/pod/pod_view.ts";

export interface RepairFacts {
  readonly pod: PodView;
  readonly architecture: string;
  /** What Archway would require for a new pod; `unconstrained`: nothing; `unknown`: an image cannot be inspected. */
  readonly wouldRequire: readonly string[] | "unconstrained" | "unknown";
  readonly isPlaced: boolean;
  /** Architectures that nodes have; undefined when that is not known. */
  readonly liveArchitectures: readonly string[] | undefined;
}

type LeaveReason =
  | "Ending"
  | "NoOwner"
  | "ExemptFromPlacement"
  | "NotPlacedHere"
  | "ImagesUnknown"
  | "NowhereElse";

type RepairDecision = { readonly kind: "evict" } | { readonly kind: "leave"; readonly reason: LeaveReason };

/** Owners that create a pod again, on any node. A DaemonSet would use the same node. */
const RECREATING_OWNERS: readonly string[] = ["ReplicaSet", "ReplicationController", "StatefulSet", "Job"];

const RULES: readonly (readonly [reason: LeaveReason, holds: (facts: RepairFacts) => boolean])[] = [
  ["Ending", ({ pod }) => pod.isDeleting || !["Pending", "Running"].includes(pod.phase)],
  ["NoOwner", ({ pod }) => !pod.owners.some(({ kind, controller }) => controller && RECREATING_OWNERS.includes(kind))],
  // The webhook ignored this pod and would ignore the next one too, for instance because the template names a node.
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
