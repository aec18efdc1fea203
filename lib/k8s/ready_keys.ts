// The due keys of a work queue: urgent ones first, then flows in turn, each flow's oldest first.
import { RoundRobin } from "./round_robin.ts";

export class ReadyKeys {
  readonly #normal = new RoundRobin<string>();
  readonly #urgent = new RoundRobin<string>();

  get size(): number {
    return this.#normal.size + this.#urgent.size;
  }

  /** Adds a key. Adding it again as urgent raises its priority. */
  add(key: string, { flow, priority }: { readonly flow: string; readonly priority: "normal" | "urgent" }): void {
    if (priority === "normal") return this.#normal.add(flow, key);
    this.#normal.remove(flow, key);
    this.#urgent.add(flow, key);
  }

  take(which: "urgent" | "any"): string | undefined {
    return (this.#urgent.take() ?? (which === "any" ? this.#normal.take() : undefined))?.value;
  }
}
