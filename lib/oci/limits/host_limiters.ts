// Every request to a registry or token server passes here, within limits of its host, account and namespace.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";
import { atMost } from "../cache_limits.ts";
import { HostLimiter, type LimitedRequest } from "./host_limiter.ts";
import { foldStates, type HostState } from "./host_state.ts";
import { type LimitedResponse, MAX_WAIT_MS } from "./outcome.ts";

/** Hosts with a state besides the declared ones: image names are user input and may name any number. */
const MAX_HOSTS = 1_000;
/** Hosts that metrics and pages name besides the declared ones. */
const MAX_NAMED = 50;
/** Attempts of one request that is refused with short pauses; then the last answer is given. */
const MAX_ATTEMPTS = 4;

interface HostLimitersDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly declared?: readonly string[];
}

export class HostLimiters {
  readonly #deps: HostLimitersDeps;
  /** By name; the host of the last request comes first. */
  readonly #hosts = new LRUCache<string, HostLimiter>(atMost(MAX_HOSTS));
  readonly #declared: ReadonlySet<string>;
  /** Declared hosts that were asked: no number of other hosts makes Archway forget that one of them fails. */
  readonly #kept = new Map<string, HostLimiter>();
  /** The first hosts that answered with content. Hosts that users made up do not answer so. */
  readonly #useful = new Set<string>();

  constructor(deps: HostLimitersDeps) {
    this.#deps = deps;
    this.#declared = new Set(deps.declared);
  }

  /**
   * Sends, and repeats after short pauses. Throws RegistryError (CircuitOpen, RateLimited) instead of a longer wait.
   */
  async run<T extends LimitedResponse>(request: LimitedRequest, send: () => Promise<T>): Promise<T> {
    for (let attempt = 1;; attempt++) {
      const answer = await this.#host(request.host).run(request, send);
      if (answer.status < 400 && this.#useful.size < MAX_NAMED) this.#useful.add(request.host);
      const { pauseMs } = answer;
      if (pauseMs === undefined || pauseMs > MAX_WAIT_MS || attempt === MAX_ATTEMPTS) return answer;
    }
  }

  /** Declared hosts come first, then those of the last requests. */
  hostStates(): readonly HostState[] {
    return [...this.#kept.values(), ...this.#hosts.values()].map(({ state }) => state);
  }

  /** The states for metrics and pages: hosts that are neither declared nor useful are one, named `other`. */
  publicHostStates(): readonly HostState[] {
    return foldStates(this.hostStates(), (host) => this.#declared.has(host) || this.#useful.has(host));
  }

  #host(name: string): HostLimiter {
    const hosts = this.#declared.has(name) ? this.#kept : this.#hosts;
    const host = hosts.get(name) ?? new HostLimiter(name, this.#deps);
    hosts.set(name, host);
    return host;
  }
}
