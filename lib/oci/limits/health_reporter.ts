// Says in the log that a registry begins to fail, with the cause, and that it works again.
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";

export interface HealthSubject {
  readonly registry: string;
  /** The first path segment that the repositories share; absent: the whole host. */
  readonly repositories?: string | undefined;
}

/** Warnings within a while: users may name any number of registries. Declared ones are always reported. */
const MAX_WARNINGS = 20;
const WHILE_MS = 600_000;

export class HealthReporter {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #declared: ReadonlySet<string>;
  #warnings = 0;
  #sinceMs = -Infinity;

  constructor(options: { readonly clock: Clock; readonly log: Logger; readonly declared: readonly string[] }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#declared = new Set(options.declared);
  }

  /** Whether there is a line about it. */
  failed(subject: HealthSubject, cause: string): boolean {
    const mayWarn = this.#mayWarn(subject);
    if (mayWarn) this.#log.warn("registry fails", { ...subject, cause });
    return mayWarn;
  }

  worked(subject: HealthSubject): void {
    this.#log.info("registry works again", { ...subject });
  }

  #mayWarn({ registry }: HealthSubject): boolean {
    if (this.#declared.has(registry)) return true;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#sinceMs >= WHILE_MS) [this.#sinceMs, this.#warnings] = [nowMs, 0];
    this.#warnings += 1;
    return this.#warnings <= MAX_WARNINGS;
  }
}
