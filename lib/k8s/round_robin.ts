// Takes values from queues in turn: thousands in one queue delay the other queues by a single value.

/** Relies on the insertion order of Map and Set. Taking a value skips deleted values, at 1 ns each. */
export class RoundRobin<V> {
  readonly #queues = new Map<string, Set<V>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Appends a value to a queue, unless present. */
  add(queue: string, value: V): void {
    const values = this.#queues.get(queue) ?? new Set();
    if (values.size === 0) this.#queues.set(queue, values);
    this.#size += values.has(value) ? 0 : 1;
    values.add(value);
  }

  remove(queue: string, value: V): void {
    const values = this.#queues.get(queue);
    if (values?.delete(value) !== true) return;
    this.#size--;
    if (values.size === 0) this.#queues.delete(queue);
  }

  /** Takes the next value of the first queue that `mayHave` accepts, and moves that queue behind the others. */
  take(
    mayHave: (queue: string, value: V) => boolean = () => true,
  ): { readonly queue: string; readonly value: V } | undefined {
    for (const [queue, values] of this.#queues) {
      for (const value of values) {
        if (!mayHave(queue, value)) break;
        this.remove(queue, value);
        if (this.#queues.delete(queue)) this.#queues.set(queue, values);
        return { queue, value };
      }
    }
    return undefined;
  }
}
