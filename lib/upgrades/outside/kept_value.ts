// A value that is read from the cluster and kept for a while; callers at the same time share one reading.
import type { Clock } from "../../clock.ts";
import { SharedCalls } from "../../oci/shared_calls.ts";

export interface Keepable<T> {
  readonly value: T;
  readonly keepMs: number;
}

export class KeptValue<T> {
  readonly #read: (signal: AbortSignal) => Promise<Keepable<T>>;
  readonly #calls: SharedCalls<Keepable<T>>;

  constructor(clock: Pick<Clock, "monotonicMs">, read: (signal: AbortSignal) => Promise<Keepable<T>>) {
    this.#read = read;
    this.#calls = new SharedCalls({ clock, keepMs: ({ keepMs }) => keepMs, maxKept: 1 });
  }

  async get(signal: AbortSignal): Promise<T> {
    const kept = await this.#calls.run("value", { signal }, (_callers, shared) => this.#read(shared));
    return kept.value;
  }

  discard(): void {
    this.#calls.clear();
  }
}
