// Failures of containers whose pod is not known yet: the kubelet may be ahead of our watch. They wait, in a bounded list.

const MAX_WAITING = 256;
/** Longest wait once the pods of the node are known (ms): longer than a dead watch takes to be seen and opened again. */
const MAX_WAIT_MS = 120_000;

/** The list. Time (monotonic ms) comes in. */
export class UnplacedFailures<T> {
  #waiting: { readonly item: T; readonly sinceMs: number }[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  add(item: T, nowMs: number): T | undefined {
    this.#waiting.push({ item, sinceMs: nowMs });
    return this.#waiting.length > MAX_WAITING ? this.#waiting.shift()?.item : undefined;
  }

  /**
   * Takes out those whose pod `find` now returns, and, without a pod, those that have waited too long. While `canExpire` does
   * not hold, the pods of the node are not known, and nothing has waited too long.
   */
  settle<P>(
    find: (item: T) => P | undefined,
    { nowMs, canExpire }: { readonly nowMs: number; readonly canExpire: boolean },
  ): readonly { readonly item: T; readonly pod: P | undefined }[] {
    const settled: { readonly item: T; readonly pod: P | undefined }[] = [];
    this.#waiting = this.#waiting.filter(({ item, sinceMs }) => {
      const pod = find(item);
      const isOver = pod !== undefined || canExpire && nowMs - sinceMs >= MAX_WAIT_MS;
      if (isOver) settled.push({ item, pod });
      return !isOver;
    });
    return settled;
  }
}
