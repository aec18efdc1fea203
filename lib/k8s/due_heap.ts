// A binary heap of keys by due time: the work queue needs one timer for any number of delayed keys.

export interface DueKey {
  readonly key: string;
  readonly dueMs: number;
}

type Item = DueKey & { readonly order: number };

/** By due time, then insertion order. A key may occur several times; the caller of `pop` decides which counts. */
export class DueHeap {
  #items: Item[] = [];
  #puts = 0;

  get size(): number {
    return this.#items.length;
  }

  peek(): DueKey | undefined {
    return this.#items[0];
  }

  push({ key, dueMs }: DueKey): void {
    const items = this.#items;
    const item = { key, dueMs, order: this.#puts++ };
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = items[parentAt];
      if (parent === undefined || isBefore(parent, item)) break;
      items[at] = parent;
      at = parentAt;
    }
    items[at] = item;
  }

  pop(): DueKey | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      const childAt = this.#smallerChild(at);
      const child = items[childAt];
      if (child === undefined || isBefore(last, child)) break;
      items[at] = child;
      at = childAt;
    }
    items[at] = last;
    return first;
  }

  /** Drops the items for which `counts` is false. O(n log n). */
  keepOnly(counts: (item: DueKey) => boolean): void {
    // A sorted list is a heap.
    this.#items = this.#items.filter(counts).sort((a, b) => a.dueMs - b.dueMs || a.order - b.order);
  }

  #smallerChild(at: number): number {
    const [left, right] = [this.#items[2 * at + 1], this.#items[2 * at + 2]];
    return left !== undefined && right !== undefined && isBefore(right, left) ? 2 * at + 2 : 2 * at + 1;
  }
}

function isBefore(a: Item, b: Item): boolean {
  return a.dueMs === b.dueMs ? a.order < b.order : a.dueMs < b.dueMs;
}
