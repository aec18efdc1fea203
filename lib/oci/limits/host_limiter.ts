// Limits the requests to one registry host. A failure counts only against its cause: 429 against the account, 5xx and
// no answer against the group of repositories. The host itself fails when it cannot be reached, or when several groups
// fail.
//
//   refused? ─ paused? ─ permit of the host, fair by namespace ─ refused or paused meanwhile? ─ send ─ note the outcome
//    └ CircuitOpen, RateLimited                                     └ again from the beginning
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";
import { assertNever } from "../../parsed.ts";
import { RegistryError } from "../errors.ts";
import { type Callers, mostUrgent } from "../callers.ts";
import { atMost } from "../cache_limits.ts";
import { Account } from "./account.ts";
import { Circuit } from "./circuit.ts";
import { FailingGroups, isTokenServerGroup } from "./failing_groups.ts";
import { FairLimiter } from "./fair_limiter.ts";
import type { HostState } from "./host_state.ts";
import { type LimitedResponse, type Outcome, outcomeOfFailure, outcomeOfResponse } from "./outcome.ts";
import { HOST_REQUESTS } from "./work_limits.ts";

/** What a request is for, and the namespaces that requested it. */
export interface LimitedRequest {
  readonly host: string;
  /** The group of repositories that may fail together, see failing_groups.ts. */
  readonly group: string;
  /** Equal for requests that the registry counts together: the fingerprint of the credential. */
  readonly account: string;
  readonly callers: Callers;
  readonly signal: AbortSignal;
}

/** Accounts kept for a host: users may bring any number of passwords for it. */
const MAX_ACCOUNTS = 64;

export class HostLimiter {
  readonly #host: string;
  readonly #clock: Clock;
  readonly #circuit: Circuit;
  readonly #groups: FailingGroups;
  readonly #accounts = new LRUCache<string, Account>(atMost(MAX_ACCOUNTS));
  readonly #permits = new FairLimiter(HOST_REQUESTS);
  #lastSuccessAtMs: number | undefined;
  #lastAnswerMs = -Infinity;
  #lastFailure: HostState["lastFailure"];

  constructor(host: string, deps: { readonly clock: Clock; readonly log: Logger }) {
    this.#host = host;
    this.#clock = deps.clock;
    this.#circuit = new Circuit({ registry: host }, deps);
    this.#groups = new FailingGroups(deps.clock, (repositories) => new Circuit({ registry: host, repositories }, deps));
  }

  get state(): HostState {
    const accounts = [...this.#accounts.values()];
    const remaining = accounts.map((account) => account.remaining).filter((left) => left !== undefined);
    return {
      host: this.#host,
      circuit: this.#circuitState,
      inFlight: this.#permits.taken,
      waiting: this.#permits.waiting,
      ...(remaining.length === 0 ? {} : { remaining: Math.min(...remaining) }),
      ...(this.#lastSuccessAtMs === undefined ? {} : { lastSuccessAtMs: this.#lastSuccessAtMs }),
      ...(this.#lastFailure === undefined ? {} : { lastFailure: this.#lastFailure }),
    };
  }

  /**
   * The circuit as others see it. A host that has not answered since a group began to fail shows the state of that
   * group.
   */
  get #circuitState(): HostState["circuit"] {
    const all = [this.#circuit, ...this.#groups.circuits.filter(({ sinceMs }) => sinceMs > this.#lastAnswerMs)];
    return all.map(({ state }) => state).find((state) => state !== "closed") ?? "closed";
  }

  /**
   * Sends one request. Throws RegistryError (CircuitOpen, RateLimited) when the wait would be long, or the signal's
   * reason.
   */
  async run<T extends LimitedResponse>(request: LimitedRequest, send: () => Promise<T>): Promise<T> {
    using _begun = await this.#begin(request);
    let outcome: Outcome = { kind: "nothing" };
    try {
      const answer = await send();
      outcome = outcomeOfResponse(answer);
      return answer;
    } catch (error) {
      if (error instanceof RegistryError && !request.signal.aborted) outcome = outcomeOfFailure(error.failure);
      throw error;
    } finally {
      // The outcome is noted before the permit is given back: it decides whether the next request is sent.
      this.#note(request, outcome);
    }
  }

  /** Waits until the request may be sent. Disposing the result ends it for its circuits, and gives its permit back. */
  async #begin(request: LimitedRequest): Promise<Disposable> {
    const { callers, signal } = request;
    for (;;) {
      signal.throwIfAborted();
      const refusal = this.#refusal(request);
      if (refusal !== undefined) throw refusal;
      const pausedForMs = this.#pausedForMs(request);
      if (pausedForMs > 0) {
        await this.#clock.sleep(pausedForMs, signal);
        continue;
      }
      using begun = new DisposableStack();
      begun.use(await this.#permits.acquire(callers, signal));
      // While the request waited, its account or group may have been refused or paused.
      if (this.#pausedForMs(request) === 0 && this.#refusal(request) === undefined) {
        for (const circuit of this.#circuitsOf(request)) begun.use(circuit.begin());
        return begun.move();
      }
    }
  }

  #refusal(request: LimitedRequest): RegistryError | undefined {
    const [first, second] = this.#circuitsOf(request).map((circuit) => circuit.refusal());
    return first ?? second ?? this.#account(request).refusal(mostUrgent(request.callers));
  }

  #pausedForMs(request: LimitedRequest): number {
    return Math.max(this.#account(request).pausedForMs, this.#groups.of(request.group)?.pausedForMs ?? 0);
  }

  #note(request: LimitedRequest, outcome: Outcome): void {
    const host = this.#circuit;
    if ("reason" in outcome) this.#lastFailure = { reason: outcome.reason, atMs: this.#clock.nowMs() };
    switch (outcome.kind) {
      case "nothing":
        return;
      case "answered":
        this.#lastAnswerMs = this.#clock.monotonicMs();
        if (outcome.status < 400) this.#lastSuccessAtMs = this.#clock.nowMs();
        host.worked();
        this.#groups.worked(request.group);
        return this.#account(request).answered(outcome.remaining);
      case "rateLimited":
        // The host answers, so its circuit closes; only this account is limited.
        this.#lastAnswerMs = this.#clock.monotonicMs();
        host.answered();
        return this.#account(request).paused(outcome.pauseMs);
      case "overloaded":
        host.answered();
        return this.#groups.getOrMake(request.group).paused(outcome.pauseMs, outcome.message);
      case "groupFailed":
        return this.#groupFailed(request.group, outcome.message);
      case "hostFailed":
        // Another registry gave this token server's address, which may be the fault: it may be too long, for example.
        if (isTokenServerGroup(request.group)) return this.#groupFailed(request.group, outcome.message);
        return host.failed(outcome.message);
      default:
        assertNever(outcome);
    }
  }

  #groupFailed(group: string, message: string): void {
    this.#groups.getOrMake(group).failed(message);
    const isHostFailing = this.#circuit.state !== "closed" || this.#groups.isHostFailing;
    if (isHostFailing && !isTokenServerGroup(group)) this.#circuit.failed(message);
  }

  #circuitsOf({ group }: LimitedRequest): readonly Circuit[] {
    const failing = this.#groups.of(group);
    return failing === undefined ? [this.#circuit] : [this.#circuit, failing];
  }

  #account({ account: name }: LimitedRequest): Account {
    const account = this.#accounts.get(name) ?? new Account(this.#host, this.#clock);
    this.#accounts.set(name, account);
    return account;
  }
}
