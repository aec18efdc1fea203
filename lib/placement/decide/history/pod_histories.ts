// Each pod's decisions in order, from the webhook's verdict to its release.
import type { RecentDecision } from "./recent_decisions.ts";

export interface PodHistory {
  /** Oldest first; never empty. The last one has the pod's name, unless only the webhook has seen the pod. */
  readonly entries: readonly [RecentDecision, ...RecentDecision[]];
}

/** What the webhook appends to the `generateName` of a pod without a name. */
export const UNNAMED = "…";

/** Newest decision first. A pod that had no name at the webhook gets the oldest gate decision of its `generateName`. */
export function historiesOf(recent: readonly RecentDecision[]): readonly PodHistory[] {
  const histories = new Map<string, [RecentDecision, ...RecentDecision[]]>();
  const unnamed: RecentDecision[] = [];
  const done: PodHistory[] = [];
  for (const entry of recent.toReversed()) {
    if (entry.kind === "gate" && entry.pod.endsWith(UNNAMED)) {
      unnamed.push(entry);
      continue;
    }
    const key = `${entry.namespace}/${entry.pod}`;
    const history = histories.get(key);
    if (history !== undefined && entry.gatedMs !== undefined) {
      history.push(entry);
      continue;
    }
    // A decision without `gatedMs` starts a new history: it is about another pod of the same name.
    if (history !== undefined) done.push({ entries: history });
    const gate = entry.gatedMs === undefined ? -1 : unnamed.findIndex((candidate) => isGateOf(candidate, entry));
    const [first] = gate < 0 ? [] : unnamed.splice(gate, 1);
    histories.set(key, first === undefined ? [entry] : [first, entry]);
  }
  const all = [
    ...done,
    ...[...histories.values(), ...unnamed.map((gate) => [gate] as const)].map((entries) => ({ entries })),
  ];
  return all.toSorted((a, b) => latestOf(b).atMs - latestOf(a).atMs);
}

export function latestOf({ entries }: PodHistory): RecentDecision {
  return entries.at(-1) ?? entries[0];
}

function isGateOf(gate: RecentDecision, entry: RecentDecision): boolean {
  return gate.namespace === entry.namespace && entry.pod.startsWith(gate.pod.slice(0, -UNNAMED.length));
}
