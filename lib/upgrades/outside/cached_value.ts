// A value that is read from the cluster and cached for a while; callers at the same time share one reading.
import type { Clock } from "../../clock.ts";
import { SharedCalls } from "../../oci/shared_calls.ts";

interface CachedValueOptions<T> {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly keepMs: number | ((value: T) => number);
}

export class CachedValue<T> {
  readonly #read: (signal: AbortSignal) => Promise<T>;
  readonly #calls: SharedCalls<T>;

  constructor({ clock, keepMs }: CachedValueOptions<T>, read: (signal: AbortSignal) => Promise<T>) {
    this.#read = read;
    this.#calls = new SharedCalls({ clock, keepMs: typeof keepMs === "number" ? () => keepMs : keepMs, maxKept: 1 });
  }

  get(signal: AbortSignal): Promise<T> {
    return this.#calls.run("value", { signal }, (_callers, sharedSignal) => this.#read(sharedSignal));
  }

  discard(): void {
    this.#calls.clear();
  }
}
