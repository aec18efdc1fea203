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
import { type LimitedAnswer, type Outcome, outcomeOf, outcomeOfFailure } from "./outcome.ts";
import { PERMITS, RegistryLimit } from "./registry_limit.ts";

/** What a request is for: repository and account, and the namespaces that requested it. */
export interface LimitedRequest {
  readonly host: string;
  readonly repository: string;
  /** Another registry names this host as its token server. What fails may be that registry's fault, and never stops the host. */
  readonly isTokenServer?: boolean | undefined;
  readonly method?: string | undefined;
  /** Equal for requests that the registry counts together: the fingerprint of the credential. */
  readonly account: string;
  /** Whose shares it counts in, and how urgent it is; both may grow while it waits. */
  readonly callers: Callers;
  readonly signal: AbortSignal;
}

const GROUPS_OF_A_HOST = 3;
/** Accounts and failing groups kept for a host: users may bring any number of passwords for it. */
const MAX_LIMITS = 64;

export class HostLimiter {
  readonly #host: string;
  readonly #clock: Clock;
  readonly #reporter: HealthReporter;
  readonly #hostLimit: RegistryLimit;
  readonly #accounts = new Map<string, RegistryLimit>();
  readonly #groups = new Map<string, RegistryLimit>();
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
    this.#hostLimit = new RegistryLimit("host", { registry: options.host }, options.clock);
  }

  get isIdle(): boolean {
    return this.#hostLimit.isUnused;
  }

  get hasAnswered(): boolean {
    return this.#lastAnswerMs > -Infinity;
  }

  get state(): HostState {
    const accounts = [...this.#accounts.values()];
    const pausedForMs = Math.max(0, ...accounts.map((account) => account.pausedForMs));
    const remaining = accounts.map((account) => account.remaining).filter((left) => left !== undefined);
    const { taken, waiting } = this.#hostLimit.permits;
    return {
      host: this.#host,
      circuit: this.#circuit,
      inFlight: taken,
      limit: Math.min(PERMITS.limit, ...accounts.map(({ permits }) => permits.limit)),
      waiting: accounts.reduce((sum, { permits }) => sum + permits.waiting, waiting),
      ...(remaining.length === 0 ? {} : { remaining: Math.min(...remaining) }),
      ...(pausedForMs === 0 ? {} : { pausedForMs }),
      ...(this.#groups.size === 0 ? {} : { failingGroups: this.#groups.size }),
      ...(this.#lastSuccessAtMs === undefined ? {} : { lastSuccessAtMs: this.#lastSuccessAtMs }),
      ...(this.#lastFailure === undefined ? {} : { lastFailure: this.#lastFailure }),
    };
  }

  /** The circuit as others see it. A host that has not answered since a group began to fail shows the state of that group. */
  get #circuit(): HostState["circuit"] {
    const { circuit } = this.#hostLimit;
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
      this.#note(request, request.isTokenServer === true ? ofRegistryAlone(outcome) : outcome);
      permits[Symbol.dispose]();
      this.#hostLimit.refuseWaiting();
      this.#accounts.get(request.account)?.refuseWaiting();
    }
  }

  async #enter(request: LimitedRequest): Promise<Disposable> {
    const { signal, callers } = request;
    for (;;) {
      signal.throwIfAborted();
      // The account may have been forgotten while this request waited for a pause to end.
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
      permits.use(await this.#hostLimit.permits.acquire(callers, signal));
      // While the request waited, its account or repository may have been refused.
      const isFree = this.#paused(request, account) === undefined && this.#refusal(request, account) === undefined;
      if (isFree && (this.#group(request)?.tryPass() ?? true)) return permits.move();
      this.#hostLimit.withdrew();
    }
  }

  #refusal(request: LimitedRequest, account: RegistryLimit): InspectionError | undefined {
    const priority = mostUrgent(request.callers);
    return this.#hostLimit.refusal(priority) ?? this.#group(request)?.refusal(priority) ?? account.refusal(priority);
  }

  #paused(request: LimitedRequest, account: RegistryLimit): RegistryLimit | undefined {
    return [account, this.#group(request)].find((one) => one !== undefined && one.pausedForMs > 0);
  }

  #note(request: LimitedRequest, outcome: Outcome): void {
    const [host, account, group] = [this.#hostLimit, this.#account(request.account), this.#group(request)];
    switch (outcome.kind) {
      case "nothing":
        group?.withdrew();
        return host.withdrew();
      case "answered":
        this.#worked();
        this.#groups.delete(keyOfGroup(request));
        account.worked(outcome.remaining);
        if (outcome.status < 400) this.#lastSuccessAtMs = this.#clock.nowMs();
        if (group !== undefined) this.#reporter.worked(group);
        return this.#reporter.worked(host);
      case "rate-limited":
        // The host works, so its circuit stays closed; only this account is limited.
        this.#worked();
        group?.withdrew();
        this.#noteFailure("RateLimited");
        return account.paused(outcome.pauseMs, outcome.message);
      case "overloaded":
        host.worked();
        this.#noteFailure("ServerError");
        return this.#failingGroup(request).paused(outcome.pauseMs, outcome.message);
      case "repository-failed":
        this.#noteFailure(outcome.reason);
        this.#groupFailed(request, outcome.message);
        return this.#isHostFailing(request) ? host.failed(outcome.message) : host.withdrew();
      case "host-failed":
        this.#noteFailure(outcome.reason);
        group?.withdrew();
        this.#reporter.failed(host, outcome.message);
        return host.failed(outcome.message);
    }
  }

  #worked(): void {
    this.#lastAnswerMs = this.#clock.monotonicMs();
    this.#hostLimit.worked();
  }

  #noteFailure(reason: FailureReason): void {
    this.#lastFailure = { reason, atMs: this.#clock.nowMs() };
  }

  #isHostFailing({ isTokenServer = false }: LimitedRequest): boolean {
    if (isTokenServer) return false;
    const own = [...this.#groups.keys()].filter((key) => !key.startsWith(TOKEN_SERVER));
    return this.#hostLimit.circuit !== "closed" || own.length >= GROUPS_OF_A_HOST;
  }

  #group(request: LimitedRequest): RegistryLimit | undefined {
    return this.#groups.get(keyOfGroup(request));
  }

  #groupFailed(request: LimitedRequest, message: string): void {
    const group = this.#failingGroup(request);
    group.failed(message);
    this.#reporter.failed(group, message);
  }

  #failingGroup(request: LimitedRequest): RegistryLimit {
    const repositories = groupOf(request.repository);
    const make = (): RegistryLimit => new RegistryLimit("group", { registry: this.#host, repositories }, this.#clock);
    return keep(this.#groups, keyOfGroup(request), make);
  }

  #account(name: string): RegistryLimit {
    return keep(this.#accounts, name, () => new RegistryLimit("account", { registry: this.#host }, this.#clock));
  }
}

function keep(all: Map<string, RegistryLimit>, name: string, make: () => RegistryLimit): RegistryLimit {
  const limit = all.get(name) ?? make();
  all.delete(name);
  all.set(name, limit);
  if (all.size > MAX_LIMITS) forgetOne(all, limit);
  return limit;
}

function forgetOne(all: Map<string, RegistryLimit>, current: RegistryLimit): void {
  const unused = [...all].filter(([, one]) => one !== current && one.isUnused);
  if (unused.length < MAX_LIMITS) return;
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

const TOKEN_SERVER = "@";

function keyOfGroup({ repository, isTokenServer = false }: LimitedRequest): string {
  return isTokenServer ? TOKEN_SERVER + repository : groupOf(repository);
}

/** A request made for another registry may fail by its own address, such as one too long: only that registry is held back. */
function ofRegistryAlone(outcome: Outcome): Outcome {
  return outcome.kind === "host-failed" ? { ...outcome, kind: "repository-failed" } : outcome;
}
