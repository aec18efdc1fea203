// The requests to one registry host. A refusal counts against its cause alone: 429 against the account, 5xx and no answer against the
// group of repositories. The host itself fails when it cannot be reached, or when several groups fail.
//
//   refused? ─ paused? ─ permit of the account ─ permit of the host ─ send ─ note the outcome
//    └ CircuitOpen, RateLimited      └ both fair by namespace
import type { Clock } from "../../clock.ts";
import { InspectionError } from "../errors.ts";
import { type Callers, mostUrgent } from "../callers.ts";
import type { FailureReason } from "../types.ts";
import type { HealthReporter } from "./health_reporter.ts";
import type { HostState } from "./host_state.ts";
import { KeyedLimiter, PERMITS } from "./keyed_limiter.ts";
import { type LimitedAnswer, type Outcome, outcomeOf, outcomeOfFailure } from "./outcome.ts";

/** What a request is for: repository and account, and the namespaces that requested it. */
export interface LimitedRequest {
  readonly host: string;
  readonly repository: string;
  /** Another registry names this host as its token server. What fails may be that registry's fault, and never stops the host. */
  readonly isForeign?: boolean | undefined;
  readonly method?: string | undefined;
  /** Equal for requests that the registry counts together: the fingerprint of the credential. */
  readonly account: string;
  /** Whose shares it counts in, and how urgent it is; both may grow while it waits. */
  readonly callers: Callers;
  readonly signal: AbortSignal;
}

const GROUPS_OF_A_HOST = 3;
/** Accounts and failing groups kept of a host: who names it may bring any number of passwords for it. */
const MAX_KEPT = 64;

export class HostLimiter {
  readonly #host: string;
  readonly #clock: Clock;
  readonly #reporter: HealthReporter;
  readonly #whole: KeyedLimiter;
  readonly #accounts = new Map<string, KeyedLimiter>();
  readonly #groups = new Map<string, KeyedLimiter>();
  #lastSuccessAtMs: number | undefined;
  #lastAnswerMs = -Infinity;
  #lastFailure: HostState["lastFailure"];
  readonly users = new Set<string>();

  constructor(
    options: { readonly host: string; readonly clock: Clock; readonly reporter: HealthReporter },
  ) {
    this.#host = options.host;
    this.#clock = options.clock;
    this.#reporter = options.reporter;
    this.#whole = new KeyedLimiter("host", { registry: options.host }, options.clock);
  }

  get isIdle(): boolean {
    return this.#whole.isUnused;
  }

  get hasAnswered(): boolean {
    return this.#lastAnswerMs > -Infinity;
  }

  get state(): HostState {
    const accounts = [...this.#accounts.values()];
    const pausedForMs = Math.max(0, ...accounts.map((account) => account.pausedForMs));
    const remaining = accounts.map((account) => account.remaining).filter((left) => left !== undefined);
    const { taken, waiting } = this.#whole.permits;
    return {
      host: this.#host,
      circuit: this.#circuit,
      inFlight: taken,
      limit: Math.min(PERMITS.limit, ...accounts.map(({ permits }) => permits.limit)),
      waiting: accounts.reduce((sum, { permits }) => sum + permits.waiting, waiting),
      ...(remaining.length === 0 ? {} : { remaining: Math.min(...remaining) }),
      ...(pausedForMs === 0 ? {} : { pausedForMs }),
      ...(this.#groups.size === 0 ? {} : { failingRepositories: this.#groups.size }),
      ...(this.#lastSuccessAtMs === undefined ? {} : { lastSuccessAtMs: this.#lastSuccessAtMs }),
      ...(this.#lastFailure === undefined ? {} : { lastFailure: this.#lastFailure }),
    };
  }

  /** The circuit as others see it. A host that has not answered since a group began to fail shows the state of that group. */
  get #circuit(): HostState["circuit"] {
    const { circuit } = this.#whole;
    if (circuit !== "closed") return circuit;
    const failing = [...this.#groups.values()].find(({ circuit, sinceMs }) =>
      circuit !== "closed" && sinceMs > this.#lastAnswerMs
    );
    return failing?.circuit ?? "closed";
  }

  /** Sends one request. Throws InspectionError (CircuitOpen, RateLimited) when the wait would be long, or the signal's reason. */
  async run<T extends LimitedAnswer>(request: LimitedRequest, send: () => Promise<T>): Promise<T> {
    const permits = await this.#enter(request);
    let outcome: Outcome = { kind: "nothing" };
    try {
      const answer = await send();
      outcome = outcomeOf(answer, { nowMs: this.#clock.nowMs(), method: request.method });
      return answer;
    } catch (error) {
      if (error instanceof InspectionError && !request.signal.aborted) outcome = outcomeOfFailure(error.failure);
      throw error;
    } finally {
      // Before permits are given back: whether others may have them depends on it.
      this.#note(request, request.isForeign === true ? ofRegistryAlone(outcome) : outcome);
      permits[Symbol.dispose]();
      this.#whole.refuseWaiting();
      this.#accounts.get(request.account)?.refuseWaiting();
    }
  }

  async #enter(request: LimitedRequest): Promise<Disposable> {
    const { signal, callers } = request;
    for (;;) {
      signal.throwIfAborted();
      // It may have been forgotten while this waited for a pause to end.
      const account = this.#account(request.account);
      const refusal = this.#refusal(request, account);
      if (refusal !== undefined) throw refusal;
      const paused = this.#paused(request, account);
      if (paused !== undefined) {
        await paused.waitPause(signal);
        continue;
      }
      using permits = new DisposableStack();
      permits.use(await account.permits.acquire(callers, signal));
      permits.use(await this.#whole.permits.acquire(callers, signal));
      // While it waited, its account or repository may have been refused.
      const isFree = this.#paused(request, account) === undefined && this.#refusal(request, account) === undefined;
      if (isFree && (this.#group(request)?.tryPass() ?? true)) return permits.move();
      this.#whole.withdrew();
    }
  }

  #refusal(request: LimitedRequest, account: KeyedLimiter): InspectionError | undefined {
    const priority = mostUrgent(request.callers);
    return this.#whole.refusal(priority) ?? this.#group(request)?.refusal(priority) ?? account.refusal(priority);
  }

  #paused(request: LimitedRequest, account: KeyedLimiter): KeyedLimiter | undefined {
    return [account, this.#group(request)].find((one) => one !== undefined && one.pausedForMs > 0);
  }

  #note(request: LimitedRequest, outcome: Outcome): void {
    const [whole, account, group] = [this.#whole, this.#account(request.account), this.#group(request)];
    switch (outcome.kind) {
      case "nothing":
        group?.withdrew();
        return whole.withdrew();
      case "answered":
        this.#worked();
        this.#groups.delete(keyOfGroup(request));
        account.worked(outcome.remaining);
        if (outcome.status < 400) this.#lastSuccessAtMs = this.#clock.nowMs();
        if (group !== undefined) this.#reporter.worked(group);
        return this.#reporter.worked(whole);
      case "rate-limited":
        // The host works, so its circuit stays closed; only this account is limited.
        this.#worked();
        group?.withdrew();
        this.#noteFailure("RateLimited");
        return account.paused(outcome.pauseMs, outcome.message);
      case "overloaded":
        whole.worked();
        this.#noteFailure("ServerError");
        return this.#failingGroup(request).paused(outcome.pauseMs, outcome.message);
      case "repository-failed":
        this.#noteFailure(outcome.reason);
        this.#groupFailed(request, outcome.message);
        return this.#isHostFailing(request) ? whole.failed(outcome.message) : whole.withdrew();
      case "host-failed":
        this.#noteFailure(outcome.reason);
        group?.withdrew();
        this.#reporter.failed(whole, outcome.message);
        return whole.failed(outcome.message);
    }
  }

  #worked(): void {
    this.#lastAnswerMs = this.#clock.monotonicMs();
    this.#whole.worked();
  }

  #noteFailure(reason: FailureReason): void {
    this.#lastFailure = { reason, atMs: this.#clock.nowMs() };
  }

  #isHostFailing({ isForeign = false }: LimitedRequest): boolean {
    if (isForeign) return false;
    const own = [...this.#groups.keys()].filter((key) => !key.startsWith(FOREIGN));
    return this.#whole.circuit !== "closed" || own.length >= GROUPS_OF_A_HOST;
  }

  #group(request: LimitedRequest): KeyedLimiter | undefined {
    return this.#groups.get(keyOfGroup(request));
  }

  #groupFailed(request: LimitedRequest, message: string): void {
    const group = this.#failingGroup(request);
    group.failed(message);
    this.#reporter.failed(group, message);
  }

  #failingGroup(request: LimitedRequest): KeyedLimiter {
    const repositories = groupOf(request.repository);
    const make = (): KeyedLimiter => new KeyedLimiter("group", { registry: this.#host, repositories }, this.#clock);
    return keep(this.#groups, keyOfGroup(request), make);
  }

  #account(name: string): KeyedLimiter {
    return keep(this.#accounts, name, () => new KeyedLimiter("account", { registry: this.#host }, this.#clock));
  }
}

function keep(all: Map<string, KeyedLimiter>, name: string, make: () => KeyedLimiter): KeyedLimiter {
  const limiter = all.get(name) ?? make();
  all.delete(name);
  all.set(name, limiter);
  if (all.size > MAX_KEPT) forgetOne(all, limiter);
  return limiter;
}

function forgetOne(all: Map<string, KeyedLimiter>, current: KeyedLimiter): void {
  const unused = [...all].filter(([, one]) => one !== current && one.isUnused);
  if (unused.length < MAX_KEPT) return;
  const [least = unused[0]] = [
    ...unused.filter(([, one]) => one.isIdle),
    ...unused.filter(([, one]) => one.pausedForMs === 0),
  ];
  if (least !== undefined) all.delete(least[0]);
}

function groupOf(repository: string): string {
  const slash = repository.indexOf("/");
  return slash < 0 ? repository : repository.slice(0, slash);
}

const FOREIGN = "@";

function keyOfGroup({ repository, isForeign = false }: LimitedRequest): string {
  return isForeign ? FOREIGN + repository : groupOf(repository);
}

/** A host that cannot be reached for one registry's sake may be within reach of all others: long addresses are cut off. */
function ofRegistryAlone(outcome: Outcome): Outcome {
  return outcome.kind === "host-failed" ? { ...outcome, kind: "repository-failed" } : outcome;
}
