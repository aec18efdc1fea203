// Says the same complaint once, until another takes its place. Called by the sources of credentials.
import type { Logger } from "../log.ts";

/** Remembers the last complaint of each source. */
export class ReportOnce {
  readonly #log: Logger;
  readonly #told = new Map<string, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Logs a complaint unless it is the one told last. `state` holds no secret. */
  tell(source: string, state: string): void {
    if (this.#told.get(source) === state) return;
    this.#told.set(source, state);
    this.#log.warn("cannot use a source of registry credentials", { source, reason: state });
  }

  /** Forgets the complaint: the source works again. */
  settle(source: string): void {
    this.#told.delete(source);
  }
}
