// Says in the log that a registry begins to fail, with the cause, and that it works again: each once.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";

export interface HealthSubject {
  readonly registry: string;
  /** The first path segment that the repositories share; absent: the whole host. */
  readonly repositories?: string | undefined;
}

/** Failures in a row before anything is said: one alone is a blip. */
const FAILURES = 3;
const MAX_SUBJECTS = 2_000;
/**
 * Warnings within a while: users may name any number of unreachable registries. Those that were declared are
 * always reported.
 */
const MAX_WARNINGS = 20;
const WHILE_MS = 600_000;

interface Health {
  failures: number;
  isReported: boolean;
}

export class HealthReporter {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #declared: ReadonlySet<string>;
  readonly #failing = new LRUCache<string, Health>({ max: MAX_SUBJECTS });
  #warnings = 0;
  #sinceMs = -Infinity;

  constructor(options: { readonly clock: Clock; readonly log: Logger; readonly declared: readonly string[] }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#declared = new Set(options.declared);
  }

  failed(subject: HealthSubject, cause: string): void {
    const key = JSON.stringify([subject.registry, subject.repositories]);
    const health = this.#failing.get(key) ?? { failures: 0, isReported: false };
    health.failures += 1;
    this.#failing.set(key, health);
    if (health.isReported || health.failures < FAILURES || !this.#mayWarn(subject)) return;
    health.isReported = true;
    this.#log.warn("registry fails", { ...subject, cause });
  }

  worked(subject: HealthSubject): void {
    const key = JSON.stringify([subject.registry, subject.repositories]);
    const health = this.#failing.get(key);
    if (health === undefined) return;
    this.#failing.delete(key);
    if (health.isReported) this.#log.info("registry works again", { ...subject });
  }

  #mayWarn({ registry }: HealthSubject): boolean {
    if (this.#declared.has(registry)) return true;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#sinceMs >= WHILE_MS) [this.#sinceMs, this.#warnings] = [nowMs, 0];
    this.#warnings += 1;
    return this.#warnings <= MAX_WARNINGS;
  }
}
