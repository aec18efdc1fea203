// What became of a pod: held for ever, placed where it cannot run, given up on with a Warning, never seen, or placed well.
// Pure but for reading events of the few that look wrong.
import { GateLabel, SCHEDULING_GATE } from "../../lib/names.ts";
import type { ClusterAccess } from "../cluster/support/cluster_access.ts";
import { isReleased, isScheduled, listPodEvents, type PodOutcome } from "../cluster/support/pods.ts";

/**
 * | fate      | gate | constraint or node                         | why                                            |
 * |-----------|------|--------------------------------------------|------------------------------------------------|
 * | stuck     | on   | or on no node                              | the gate was not lifted, or no node fits       |
 * | missed    | off  | any                                        | the webhook was not there (`failurePolicy: Ignore`), or had stopped gating |
 * | given up  | off  | wider than the images allow, and a Warning | the registry stayed away for too long          |
 * | misplaced | off  | wider than the images allow, no Warning    | must never happen                              |
 * | placed    | off  | as the images allow                        |                                                |
 */
export type Fate = "stuck" | "missed" | "given up" | "misplaced" | "placed";

export type Fates = Readonly<Record<Fate, number>>;

export const NO_FATES: Fates = { stuck: 0, missed: 0, "given up": 0, misplaced: 0, placed: 0 };

export interface Case {
  readonly architectures: readonly string[];
  readonly nodes: ReadonlyMap<string, string>;
}

/** Whether pod and node are as the images allow: every term asks for architectures of them all, and so does the node. */
export function isPlacedWell(pod: PodOutcome, { architectures, nodes }: Case): boolean {
  const isAllowed = (architecture: string): boolean => architectures.includes(architecture);
  const isConstrained = pod.requiredArchitectures.length > 0 &&
    pod.requiredArchitectures.every((term) => term.length > 0 && term.every(isAllowed));
  return isConstrained && isAllowed(nodes.get(pod.nodeName) ?? "");
}

export async function judgePod(
  cluster: ClusterAccess,
  pod: PodOutcome,
  facts: Case & { readonly namespace: string },
): Promise<Fate> {
  if (!isReleased(pod) || !isScheduled(pod)) return "stuck";
  if ((pod.labels[SCHEDULING_GATE] ?? GateLabel.notSet) === GateLabel.notSet) return "missed";
  if (isPlacedWell(pod, facts)) return "placed";
  const events = await listPodEvents(cluster, { namespace: facts.namespace, name: pod.name });
  return events.some(({ type }) => type === "Warning") ? "given up" : "misplaced";
}

export function addFate(fates: Fates, fate: Fate): Fates {
  return { ...fates, [fate]: fates[fate] + 1 };
}
