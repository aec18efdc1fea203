// How many keys of each flow a work queue holds, so that no flow fills it.
import type { Logger } from "../log.ts";

interface FlowCountsOptions {
  readonly maxOfFlow?: ((flow: string) => number) | undefined;
  readonly name: string;
  readonly log: Logger;
}

export class FlowCounts {
  readonly #counts = new Map<string, number>();
  /** Flows that have lost keys since they were last empty. */
  readonly #cut = new Set<string>();
  readonly #options: FlowCountsOptions;

  constructor(options: FlowCountsOptions) {
    this.#options = options;
  }

  /** Counts a new key of a flow; false when the flow has too many keys. Logs the first refusal. */
  enter(flow: string): boolean {
    const { maxOfFlow, name, log } = this.#options;
    const count = this.#counts.get(flow) ?? 0;
    if (count < (maxOfFlow?.(flow) ?? Infinity)) {
      this.#counts.set(flow, count + 1);
      return true;
    }
    if (!this.#cut.has(flow)) log.warn("too many keys of one group: more are left out", { queue: name, group: flow });
    this.#cut.add(flow);
    return false;
  }

  leave(flow: string): void {
    const count = (this.#counts.get(flow) ?? 0) - 1;
    if (count > 0) return void this.#counts.set(flow, count);
    this.#counts.delete(flow);
    this.#cut.delete(flow);
  }
}
