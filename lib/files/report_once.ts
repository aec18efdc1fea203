// Logs a warning once per source until it changes.
import type { Logger } from "../log.ts";

/** Keeps the last warning of each source. */
export class ReportOnce {
  readonly #log: Logger;
  readonly #last = new Map<string, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Logs a warning unless it is the last one of the source. `state` holds no secret. */
  warn(source: string, state: string): void {
    if (this.#last.get(source) === state) return;
    this.#last.set(source, state);
    this.#log.warn("cannot use a source of registry credentials", { source, reason: state });
  }

  /** The source works again: its next warning is logged, whatever it is. */
  clear(source: string): void {
    this.#last.delete(source);
  }
}
