// Values that wait in lines, one of each line in turn: thousands in one line delay another by one value.

/** Maps and sets keep the order of insertion. To take the first of a set passes over those that were just taken, at 1 ns each. */
export class Turns<V> {
  readonly #lines = new Map<string, Set<V>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Puts a value at the end of a line, unless it is in it. */
  add(line: string, value: V): void {
    const values = this.#lines.get(line) ?? new Set();
    if (values.size === 0) this.#lines.set(line, values);
    this.#size += values.has(value) ? 0 : 1;
    values.add(value);
  }

  remove(line: string, value: V): void {
    const values = this.#lines.get(line);
    if (values?.delete(value) !== true) return;
    this.#size--;
    if (values.size === 0) this.#lines.delete(line);
  }

  /** Takes the next value of a line that may have one; its line goes behind the others. */
  take(mayHave: (line: string) => boolean = () => true): { readonly line: string; readonly value: V } | undefined {
    for (const [line, values] of this.#lines) {
      if (!mayHave(line)) continue;
      for (const value of values) {
        this.remove(line, value);
        if (this.#lines.delete(line)) this.#lines.set(line, values);
        return { line, value };
      }
    }
    return undefined;
  }
}
