// Numbers that were measured more than once, and what is said of them.

/** The middle of the values; NaN of none. */
export function median(values: readonly number[]): number {
  return percentile([...values].sort((left, right) => left - right), 0.5);
}

/** The value that `share` (0 to 1) of the sorted values lie below; NaN of none. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export class Samples {
  readonly #values = new Map<string, number[]>();

  add(name: string, value: number): void {
    this.#values.set(name, [...this.#values.get(name) ?? [], value]);
  }

  /** Over the rounds; NaN when nothing of that name was measured. */
  median(name: string): number {
    return median(this.#values.get(name) ?? []);
  }

  toJSON(): Readonly<Record<string, readonly number[]>> {
    return Object.fromEntries(this.#values);
  }
}
