// Says in the log that a registry begins to fail, with the cause, and that it works again: each once.
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";

export interface HealthSubject {
  readonly registry: string;
  /** The first path segment that the repositories share; absent: the whole host. */
  readonly repositories?: string | undefined;
}

export class Health {
  failures = 0;
  isReported = false;
}

interface Subject {
  readonly subject: HealthSubject;
  readonly health: Health;
}

/** Failures in a row before anything is said: one alone is a blip. */
const FAILURES = 3;
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

  failed({ subject, health }: Subject, cause: string): void {
    health.failures += 1;
    if (health.isReported || health.failures < FAILURES || !this.#mayWarn(subject)) return;
    health.isReported = true;
    this.#log.warn("registry fails", { ...subject, cause });
  }

  worked({ subject, health }: Subject): void {
    if (health.isReported) this.#log.info("registry works again", { ...subject });
    [health.failures, health.isReported] = [0, false];
  }

  #mayWarn({ registry }: HealthSubject): boolean {
    if (this.#declared.has(registry)) return true;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#sinceMs >= WHILE_MS) [this.#sinceMs, this.#warnings] = [nowMs, 0];
    this.#warnings += 1;
    return this.#warnings <= MAX_WARNINGS;
  }
}
