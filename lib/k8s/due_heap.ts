// A binary heap of keys by due time: the work queue needs one timer for any number of delayed keys.

/** A key and when it is due (monotonic ms). */
export interface DueKey {
  readonly key: string;
  readonly dueMs: number;
}

/** Keys ordered by due time. A key may be in it several times; who pops decides which of them still count. */
export class DueHeap {
  #items: DueKey[] = [];

  /** How many keys are in it. */
  get size(): number {
    return this.#items.length;
  }

  /** The earliest, left in place. */
  peek(): DueKey | undefined {
    return this.#items[0];
  }

  /** Puts a key in. O(log n). */
  push(item: DueKey): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = items[parentAt];
      if (parent === undefined || parent.dueMs <= item.dueMs) break;
      items[at] = parent;
      at = parentAt;
    }
    items[at] = item;
  }

  /** Takes the earliest out. O(log n). */
  pop(): DueKey | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      const childAt = this.#smallerChild(at);
      const child = items[childAt];
      if (child === undefined || child.dueMs >= last.dueMs) break;
      items[at] = child;
      at = childAt;
    }
    items[at] = last;
    return first;
  }

  /** Drops all keys but those that `counts` names. O(n log n). */
  keepOnly(counts: (item: DueKey) => boolean): void {
    // A sorted list is a heap.
    this.#items = this.#items.filter(counts).sort((a, b) => a.dueMs - b.dueMs);
  }

  #smallerChild(at: number): number {
    const [left, right] = [this.#items[2 * at + 1], this.#items[2 * at + 2]];
    return left !== undefined && right !== undefined && right.dueMs < left.dueMs ? 2 * at + 2 : 2 * at + 1;
  }
}
