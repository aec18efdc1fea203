// Failures of containers whose pod is not known yet: the kubelet may be ahead of our watch. They wait, in a bounded list.

/** What became of a waiting failure: `value` where its pod is known now. */
export type Placed<T, P> = { readonly kind: "found"; readonly item: T; readonly pod: P } | {
  readonly kind: "expired";
  readonly item: T;
};

/** Longest list. */
const MAX_WAITING = 256;
/** Longest wait once the pods of the node are known (ms): longer than a dead watch takes to be seen and opened again. */
const MAX_WAIT_MS = 120_000;

/** The list. Time (monotonic ms) comes in. */
export class UnplacedFailures<T> {
  #waiting: { readonly item: T; readonly sinceMs: number }[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  /** Adds one; returns the oldest, which is dropped, where the list is full. */
  add(item: T, nowMs: number): T | undefined {
    this.#waiting.push({ item, sinceMs: nowMs });
    return this.#waiting.length > MAX_WAITING ? this.#waiting.shift()?.item : undefined;
  }

  /**
   * Takes out those whose pod `find` now returns, and those that have waited too long. While `canExpire` does not hold, the
   * pods of the node are not known, and nothing has waited too long.
   */
  settle<P>(
    find: (item: T) => P | undefined,
    { nowMs, canExpire }: { readonly nowMs: number; readonly canExpire: boolean },
  ): readonly Placed<T, P>[] {
    const settled: Placed<T, P>[] = [];
    this.#waiting = this.#waiting.filter(({ item, sinceMs }) => {
      const pod = find(item);
      if (pod !== undefined) settled.push({ kind: "found", item, pod });
      else if (canExpire && nowMs - sinceMs >= MAX_WAIT_MS) settled.push({ kind: "expired", item });
      else return true;
      return false;
    });
    return settled;
  }
}
