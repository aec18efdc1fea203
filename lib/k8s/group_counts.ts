// How many keys of each group a work queue has, held against a bound: what one group adds takes no memory without end.
import type { Logger } from "../log.ts";

/** Which bound, and where it is logged that a group has reached it. */
export interface GroupCountsOptions {
  readonly maxOfGroup?: ((group: string) => number) | undefined;
  readonly name: string;
  readonly log: Logger;
}

/** The counts. */
export class GroupCounts {
  readonly #counts = new Map<string, number>();
  /** Groups of which keys were left out since they last had none. */
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

  /** A key of the group is gone. */
  leave(group: string): void {
    const count = (this.#counts.get(group) ?? 0) - 1;
    if (count > 0) return void this.#counts.set(group, count);
    this.#counts.delete(group);
    this.#cut.delete(group);
  }
}
