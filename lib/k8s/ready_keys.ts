// The due keys of a work queue: urgent ones first, then groups in turn, each group's oldest first.
import { RoundRobin } from "./round_robin.ts";

export class ReadyKeys {
  readonly #normal = new RoundRobin<string>();
  readonly #urgent = new RoundRobin<string>();

  get size(): number {
    return this.#normal.size + this.#urgent.size;
  }

  /** Adds a key. Adding it again as urgent raises its priority. */
  add(key: string, { group, priority }: { readonly group: string; readonly priority: "normal" | "urgent" }): void {
    if (priority === "normal") return this.#normal.add(group, key);
    this.#normal.remove(group, key);
    this.#urgent.add(group, key);
  }

  take(which: "urgent" | "any"): string | undefined {
    return (this.#urgent.take() ?? (which === "any" ? this.#normal.take() : undefined))?.value;
  }
}
