// What is known of the repositories of one host that share their first path segment (a project, an organisation, a
// pull-through cache): they often fail together, and without the rest of the host.
import { Breaker, type CircuitState } from "../../breaker.ts";
import type { Clock } from "../../clock.ts";
import { MAX_WAIT_MS, Pause } from "./pause.ts";

/** How sensitive the breakers of hosts and repositories are. */
export const BREAKER = { threshold: 5, baseMs: 500, capMs: 2_000 } as const;

/** Requests that are refused while a probe is under way may come back after this (ms). */
const PROBE_MS = 500;

/** The part of a host's repositories that a repository belongs to. */
export function groupOf(repository: string): string {
  const slash = repository.indexOf("/");
  return slash < 0 ? repository : repository.slice(0, slash);
}

/** A group of repositories that fails or is paused. */
export class RepositoryHealth {
  readonly pause: Pause;
  /** When it began to fail (monotonic ms). */
  readonly sinceMs: number;
  readonly #breaker: Breaker;
  #lastError = "";

  /** Fails from now on. */
  constructor(clock: Clock) {
    this.sinceMs = clock.monotonicMs();
    this.pause = new Pause(clock);
    this.#breaker = new Breaker({ clock, ...BREAKER });
  }

  /** Whether requests are sent to it at all. */
  get circuit(): CircuitState {
    return this.#breaker.state;
  }

  /** Why no request is sent now; undefined when one may be, or may be soon. */
  refusal(): { readonly lastError: string; readonly retryAfterMs: number } | undefined {
    const { state, isProbing, openForMs } = this.#breaker;
    const isOpen = state === "open" || state === "half-open" && isProbing;
    const retryAfterMs = isOpen ? openForMs || PROBE_MS : this.pause.leftMs;
    if (!isOpen && retryAfterMs <= MAX_WAIT_MS) return undefined;
    return { lastError: this.#lastError, retryAfterMs: Math.ceil(retryAfterMs) };
  }

  /** Whether a request may go now; then {@link failed}, {@link paused} or {@link withdrew} follows, or the object is dropped. */
  tryPass(): boolean {
    return this.#breaker.tryPass();
  }

  failed(message: string): void {
    this.#lastError = message;
    this.#breaker.failed();
  }

  paused(pauseMs: number, message: string): void {
    this.#lastError = message;
    this.#breaker.withdrew();
    this.pause.extend(pauseMs);
  }

  withdrew(): void {
    this.#breaker.withdrew();
  }
}
