// Which containers were reported lately, and by which source: two sources may see the same one. Bounded; for the dashboard
// it also keeps the latest reports.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../lib/clock.ts";
import type { ReportedFailure } from "../../lib/enoexec/reported_failure.ts";

/** Who saw it: the daemon in the kernel, or the leader in the status of the pod. */
export type FailureSource = "kernel" | "status";

/** The memory. */
export interface ReportedContainers {
  /** Records that a source reported the container of a pod. Returns who reported it before: none, the same source, or the other one. */
  note(
    container: { readonly podUid: string; readonly name: string },
    source: FailureSource,
  ): "new" | "again" | "merged";
  /** Whether it was reported, or lately cleared. */
  has(container: { readonly podUid: string; readonly name: string }): boolean;
  /** Notes that a container merely fails: it is left alone for some minutes. */
  clear(container: { readonly podUid: string; readonly name: string }): void;
  /** Keeps a report for people. */
  show(failure: ReportedFailure): void;
  /** Newest first. */
  recent(): readonly ReportedFailure[];
}

const MAX_CONTAINERS = 10_000;
const MAX_SHOWN = 20;
/** Longer than the kubelet's longest pause between two starts (ms). */
const CLEARED_MS = 10 * 60_000;

/** An empty memory. */
export function openReportedContainers({ clock }: { readonly clock: Clock }): ReportedContainers {
  const known = new LRUCache<string, FailureSource>({ max: MAX_CONTAINERS });
  /** Until when, by the clock that never jumps. */
  const cleared = new LRUCache<string, number>({ max: MAX_CONTAINERS });
  const shown: ReportedFailure[] = [];
  const keyOf = ({ podUid, name }: { readonly podUid: string; readonly name: string }): string => `${podUid} ${name}`;
  return {
    note: (container, source) => {
      const before = known.get(keyOf(container));
      if (before === undefined) known.set(keyOf(container), source);
      return before === undefined ? "new" : before === source ? "again" : "merged";
    },
    has: (container) =>
      known.has(keyOf(container)) || (cleared.get(keyOf(container)) ?? -Infinity) > clock.monotonicMs(),
    clear: (container) => void cleared.set(keyOf(container), clock.monotonicMs() + CLEARED_MS),
    show: (failure) => {
      shown.unshift(failure);
      shown.length = Math.min(shown.length, MAX_SHOWN);
    },
    recent: () => [...shown],
  };
}
