// How many keys of each group a work queue holds, so that no group fills it.
import type { Logger } from "../log.ts";

interface GroupCountsOptions {
  readonly maxOfGroup?: ((group: string) => number) | undefined;
  readonly name: string;
  readonly log: Logger;
}

export class GroupCounts {
  readonly #counts = new Map<string, number>();
  /** Groups that have lost keys since they were last empty. */
  readonly #cut = new Set<string>();
  readonly #options: GroupCountsOptions;

  constructor(options: GroupCountsOptions) {
    this.#options = options;
  }

  /** Counts a group's new key; false when it has too many. Logs the first refusal. */
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
