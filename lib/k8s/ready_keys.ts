// The keys of a work queue that are due: urgent ones first, then one of each group in turn, the oldest of a group first.
import type { Logger } from "../log.ts";
import { RoundRobin } from "./round_robin.ts";

export class ReadyKeys {
  readonly #normal = new RoundRobin<string>();
  readonly #urgent = new RoundRobin<string>();

  get size(): number {
    return this.#normal.size + this.#urgent.size;
  }

  /** Puts a key in; one that is in as normal becomes urgent when it is put in as urgent. */
  add(key: string, { group, priority }: { readonly group: string; readonly priority: "normal" | "urgent" }): void {
    if (priority === "normal") return this.#normal.add(group, key);
    this.#normal.remove(group, key);
    this.#urgent.add(group, key);
  }

  take(which: "urgent" | "any"): string | undefined {
    return (this.#urgent.take() ?? (which === "any" ? this.#normal.take() : undefined))?.value;
  }
}

interface GroupCountsOptions {
  readonly maxOfGroup?: ((group: string) => number) | undefined;
  readonly name: string;
  readonly log: Logger;
}

export class GroupCounts {
  readonly #counts = new Map<string, number>();
  /** Groups that have left out keys since they last were empty. */
  readonly #cut = new Set<string>();
  readonly #options: GroupCountsOptions;

  constructor(options: GroupCountsOptions) {
    this.#options = options;
  }

  /** Counts a new key of the group; false when there are too many of it. The first of these is logged. */
  enter(group: string): boolean {
    const { maxOfGroup, name, log } = this.#options;
    const count = this.#counts.get(group) ?? 0;
    if (count < (maxOfGroup?.(group) ?? Infinity)) {
      this.#counts.set(group, count + 1);
      return true;
    }
    if (!this.#cut.has(group)) log.warn("too many keys of one group: more are left out", { queue: name, group });
    this.#cut.add(group);
    return false;
  }

  leave(group: string): void {
    const count = (this.#counts.get(group) ?? 0) - 1;
    if (count > 0) return void this.#counts.set(group, count);
    this.#counts.delete(group);
    this.#cut.delete(group);
  }
}
