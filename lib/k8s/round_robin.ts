// Values that wait in queues, one of each queue in turn: thousands in one queue delay another by one value.

/** Relies on the order of insertion of Map and Set. Taking the first value skips those deleted before it, at 1 ns each. */
export class RoundRobin<V> {
  readonly #queues = new Map<string, Set<V>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Puts a value at the end of a queue, unless it is in it. */
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

  /** Takes the next value of the first queue that `mayHave` admits; that queue then goes behind the others. */
  take(mayHave: (queue: string) => boolean = () => true): { readonly queue: string; readonly value: V } | undefined {
    for (const [queue, values] of this.#queues) {
      if (!mayHave(queue)) continue;
      for (const value of values) {
        this.remove(queue, value);
        if (this.#queues.delete(queue)) this.#queues.set(queue, values);
        return { queue, value };
      }
    }
    return undefined;
  }
}
