// Every request to a registry or token server passes here, within limits of its host, account and namespace.
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";
import { HealthReporter } from "./health_reporter.ts";
import { HostLimiter, type LimitedRequest } from "./host_limiter.ts";
import { foldStates, type HostState, NamedHosts } from "./host_state.ts";
import { type LimitedAnswer, MAX_WAIT_MS, pauseOf } from "./outcome.ts";

/** Hosts with a state: image names are user input, so there may be any number of them. */
const MAX_HOSTS = 1_000;
const MAX_STATES = 100;
/** Attempts of one request that is refused with short pauses; then the caller gets an error with the time to retry after. */
const MAX_ATTEMPTS = 4;

interface RequestLimiterDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly declared?: readonly string[];
}

export class RequestLimiter {
  readonly #clock: Clock;
  readonly #hosts = new Map<string, HostLimiter>();
  readonly #named: NamedHosts;
  readonly #reporter: HealthReporter;

  constructor({ clock, log, declared = [] }: RequestLimiterDeps) {
    this.#clock = clock;
    this.#named = new NamedHosts(declared);
    this.#reporter = new HealthReporter({ clock, log, declared });
  }

  /** Sends, again after short pauses. Throws RegistryError (CircuitOpen, RateLimited) where it would take longer. */
  async run<T extends LimitedAnswer>(request: LimitedRequest, send: () => Promise<T>): Promise<T> {
    for (let attempt = 1;; attempt++) {
      const host = this.#host(request.host);
      const answer = await host.run(request, send);
      if (answer.status < 400) this.#named.note(request.host, host.onlyUser, this.#clock.monotonicMs());
      const pauseMs = pauseOf(answer, this.#clock.nowMs());
      if (pauseMs === undefined || pauseMs > MAX_WAIT_MS || attempt === MAX_ATTEMPTS) return answer;
    }
  }

  hostStates(): readonly HostState[] {
    return [...this.#hosts.values()].reverse().slice(0, MAX_STATES).map(({ state }) => state);
  }

  /** The same for metrics and pages: hosts that are neither declared nor of proven use are one, named `other`. */
  publicHostStates(): readonly HostState[] {
    return foldStates(this.hostStates(), (host) => this.#named.has(host));
  }

  #host(name: string): HostLimiter {
    const host = this.#hosts.get(name) ?? new HostLimiter(name, this.#reporter, this.#clock);
    this.#hosts.delete(name);
    this.#hosts.set(name, host);
    if (this.#hosts.size > MAX_HOSTS) this.#dropIdle(host);
    return host;
  }

  /** Drops the least useful idle host: names in pods must not displace what is known of registries in use. */
  #dropIdle(current: HostLimiter): void {
    const idle = [...this.#hosts].filter(([, host]) => host !== current && host.isIdle);
    const ofOne = idle.filter(([, host]) => !host.isShared);
    const unproven = ofOne.filter(([name]) => !this.#named.has(name));
    const [least] = [...unproven.filter(([, host]) => !host.hasAnswered), ...unproven, ...ofOne, ...idle];
    if (least !== undefined) this.#hosts.delete(least[0]);
  }
}
