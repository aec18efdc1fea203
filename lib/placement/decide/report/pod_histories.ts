// The decisions about each pod in their order, from the webhook's verdict to its release.
import type { BoardEntry } from "./board.ts";

export interface PodHistory {
  /** Oldest first; never empty. The last one has the pod's name. */
  readonly entries: readonly [BoardEntry, ...BoardEntry[]];
}

/** What the webhook calls a pod that has no name yet ends with this. */
export const UNNAMED = "…";

/** Newest decision first. A pod that had no name at the webhook begins with the oldest gate of its `generateName`. */
export function historiesOf(recent: readonly BoardEntry[]): readonly PodHistory[] {
  const histories = new Map<string, [BoardEntry, ...BoardEntry[]]>();
  const unnamed: BoardEntry[] = [];
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
    // A pod that was not held begins anew: another one of this name.
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

export function latestOf({ entries }: PodHistory): BoardEntry {
  return entries.at(-1) ?? entries[0];
}

function isGateOf(gate: BoardEntry, entry: BoardEntry): boolean {
  return gate.namespace === entry.namespace && entry.pod.startsWith(gate.pod.slice(0, -UNNAMED.length));
}
