// Which containers were reported lately, and by which source: two sources may see the same failure.
import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";
import { atMost, livingBy } from "../oci/cache_limits.ts";

/** Who saw it: the daemon in the kernel, or the leader in the status of the pod. */
export type FailureSource = "kernel" | "status";

export interface ReportedFailure {
  /** Wall time (epoch ms) of the report. */
  readonly atMs: number;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly node: string;
  readonly architecture: string;
}

const MAX_CONTAINERS = 10_000;
const MAX_SHOWN = 20;
/** How long (ms) a cleared container is known: longer than the kubelet's longest pause between two starts. */
const CLEARED_MS = 10 * 60_000;

export class ReportedContainers {
  readonly #known = new LRUCache<string, FailureSource>(atMost(MAX_CONTAINERS));
  readonly #cleared: LRUCache<string, true>;
  readonly #shown: ReportedFailure[] = [];

  constructor(clock: Clock) {
    this.#cleared = new LRUCache({ ...atMost(MAX_CONTAINERS), ttl: CLEARED_MS, ...livingBy(clock) });
  }

  /** `merged`: the other source has reported this container before. */
  note(podUid: string, name: string, source: FailureSource): "new" | "again" | "merged" {
    const key = `${podUid} ${name}`;
    const before = this.#known.get(key);
    if (before === undefined) this.#known.set(key, source);
    return before === undefined ? "new" : before === source ? "again" : "merged";
  }

  /** Whether the container was reported, or lately cleared. */
  has(podUid: string, name: string): boolean {
    const key = `${podUid} ${name}`;
    return this.#known.has(key) || this.#cleared.get(key) === true;
  }

  clear(podUid: string, name: string): void {
    this.#cleared.set(`${podUid} ${name}`, true);
  }

  remember(failure: ReportedFailure): void {
    this.#shown.unshift(failure);
    this.#shown.length = Math.min(this.#shown.length, MAX_SHOWN);
  }

  /** Newest first. */
  recent(): readonly ReportedFailure[] {
    return [...this.#shown];
  }
}
