// The requests to one registry host. A refusal counts against its cause alone: 429 against the account, 5xx and no answer against the
// group of repositories. The host itself fails when it cannot be reached, or when several groups fail.
//
//   refused? ─ paused? ─ permit of the host, within those of the account ─ send ─ note the outcome
//    └ CircuitOpen, RateLimited  └ fair by namespace
import type { Clock } from "../../clock.ts";
import { RegistryError } from "../errors.ts";
import { type Callers, mostUrgent } from "../callers.ts";
import type { FailureReason } from "../types.ts";
import { AccountLimit } from "./account_limit.ts";
import { Circuit } from "./circuit.ts";
import { FairLimiter, type NarrowerLimit, type Permit } from "./fair_limiter.ts";
import type { HealthReporter } from "./health_reporter.ts";
import type { HostState } from "./host_state.ts";
import { type LimitedAnswer, limitedOutcomeOf, type Outcome, outcomeOfFailure } from "./outcome.ts";
import { HOST_REQUESTS } from "./work_limits.ts";

/** What a request is for: repository and account, and the namespaces that requested it. */
export interface LimitedRequest {
  readonly host: string;
  readonly repository: string;
  /** Another registry names this host as its token server. What fails may be that registry's fault, and never stops the host. */
  readonly isTokenServer?: boolean | undefined;
  readonly method?: string | undefined;
  /** Equal for requests that the registry counts together: the fingerprint of the credential. */
  readonly account: string;
  readonly callers: Callers;
  readonly signal: AbortSignal;
}

/** So many failing groups of repositories, and the host itself counts as failing. */
const GROUPS_OF_A_HOST = 3;
/** Accounts and failing groups kept for a host: users may bring any number of passwords for it. */
const MAX_LIMITS = 64;

export class HostLimiter {
  readonly #host: string;
  readonly #clock: Clock;
  readonly #reporter: HealthReporter;
  readonly #circuit: Circuit;
  readonly #permits: FairLimiter;
  readonly #accounts = new Map<string, AccountLimit>();
  readonly #groups = new Map<string, Circuit>();
  #lastSuccessAtMs: number | undefined;
  #lastAnswerMs = -Infinity;
  #lastFailure: HostState["lastFailure"];
  /** Namespaces that it has answered with its content: two are enough to be shared. */
  readonly #users = new Set<string>();

  constructor(host: string, reporter: HealthReporter, clock: Clock) {
    this.#host = host;
    this.#reporter = reporter;
    this.#clock = clock;
    this.#circuit = new Circuit({ registry: host }, reporter, clock);
    // After failures one request gets a permit, as a probe; the others wait for what it finds.
    this.#permits = new FairLimiter({ ...HOST_REQUESTS, breaker: this.#circuit.breaker });
  }

  get isIdle(): boolean {
    return this.#permits.taken + this.#permits.waiting === 0;
  }

  get hasAnswered(): boolean {
    return this.#lastAnswerMs > -Infinity;
  }

  get isShared(): boolean {
    return this.#users.size > 1;
  }

  /** The only namespace that it has answered with its content. */
  get onlyUser(): string | undefined {
    return this.isShared ? undefined : [...this.#users][0];
  }

  get state(): HostState {
    const accounts = [...this.#accounts.values()];
    const pausedForMs = Math.max(0, ...accounts.map((account) => account.pausedForMs));
    const remaining = accounts.map((account) => account.remaining).filter((left) => left !== undefined);
    const { taken, waiting } = this.#permits;
    return {
      host: this.#host,
      circuit: this.#circuitState,
      inFlight: taken,
      limit: Math.min(HOST_REQUESTS.limit, ...accounts.map(({ limit }) => limit)),
      waiting,
      ...(remaining.length === 0 ? {} : { remaining: Math.min(...remaining) }),
      ...(pausedForMs === 0 ? {} : { pausedForMs }),
      ...(this.#groups.size === 0 ? {} : { failingGroups: this.#groups.size }),
      ...(this.#lastSuccessAtMs === undefined ? {} : { lastSuccessAtMs: this.#lastSuccessAtMs }),
      ...(this.#lastFailure === undefined ? {} : { lastFailure: this.#lastFailure }),
    };
  }

  /** The circuit as others see it. A host that has not answered since a group began to fail shows the state of that group. */
  get #circuitState(): HostState["circuit"] {
    const all = [this.#circuit, ...[...this.#groups.values()].filter(({ sinceMs }) => sinceMs > this.#lastAnswerMs)];
    return all.map(({ breaker }) => breaker.state).find((state) => state !== "closed") ?? "closed";
  }

  /** Sends one request. Throws RegistryError (CircuitOpen, RateLimited) when the wait would be long, or the signal's reason. */
  async run<T extends LimitedAnswer>(request: LimitedRequest, send: () => Promise<T>): Promise<T> {
    const permit = await this.#enter(request);
    let outcome: Outcome = { kind: "nothing" };
    try {
      const answer = await send();
      outcome = limitedOutcomeOf(answer, { nowMs: this.#clock.nowMs(), method: request.method });
      return answer;
    } catch (error) {
      if (error instanceof RegistryError && !request.signal.aborted) outcome = outcomeOfFailure(error.failure);
      throw error;
    } finally {
      // Before the permit is given back: whether others may have it depends on that.
      this.#note(request, request.isTokenServer === true ? ofRegistryAlone(outcome) : outcome);
      this.#group(request)?.breaker.withdrew();
      permit.release();
      const refusal = this.#hostRefusal;
      if (refusal !== undefined) this.#permits.refuseAll(refusal);
    }
  }

  async #enter(request: LimitedRequest): Promise<Permit> {
    const { signal, callers } = request;
    for (;;) {
      signal.throwIfAborted();
      const refusal = this.#refusal(request);
      if (refusal !== undefined) throw refusal;
      const pausedForMs = this.#pausedForMs(request);
      if (pausedForMs > 0) {
        await this.#clock.sleep(pausedForMs, signal);
        continue;
      }
      const permit = await this.#permits.acquire(callers, signal, { within: this.#account(request.account) });
      // While the request waited, its account or repository may have been refused, or its account forgotten.
      const isFree = this.#pausedForMs(request) === 0 && this.#refusal(request) === undefined;
      if (isFree && (this.#group(request)?.breaker.tryPass() ?? true)) return permit;
      permit.release();
    }
  }

  #refusal(request: LimitedRequest): RegistryError | undefined {
    return this.#hostRefusal ?? this.#group(request)?.refusal() ??
      this.#account(request.account).refusal(mostUrgent(request.callers));
  }

  /** Requests wait at a host until its probe has ended; a group has no permits to wait for. */
  get #hostRefusal(): RegistryError | undefined {
    return this.#circuit.breaker.state === "open" ? this.#circuit.refusal() : undefined;
  }

  #pausedForMs(request: LimitedRequest): number {
    return Math.max(this.#account(request.account).pausedForMs, this.#group(request)?.pausedForMs ?? 0);
  }

  #note(request: LimitedRequest, outcome: Outcome): void {
    const [host, account, group] = [this.#circuit, this.#account(request.account), this.#group(request)];
    switch (outcome.kind) {
      case "nothing":
        return;
      case "answered":
        this.#lastAnswerMs = this.#clock.monotonicMs();
        host.worked();
        this.#groups.delete(keyOfGroup(request));
        group?.worked();
        if (outcome.status < 400) this.#noteUse(request);
        return account.worked(outcome.remaining);
      case "rate-limited":
        // The host answers, so its circuit closes; only this account is limited.
        this.#lastAnswerMs = this.#clock.monotonicMs();
        host.breaker.succeeded();
        this.#noteFailure("RateLimited");
        return account.paused(outcome.pauseMs);
      case "overloaded":
        host.breaker.succeeded();
        this.#noteFailure("ServerError");
        return this.#failingGroup(request).paused(outcome.pauseMs, outcome.message);
      case "repository-failed":
        this.#noteFailure(outcome.reason);
        this.#failingGroup(request).failed(outcome.message);
        if (this.#isHostFailing(request)) host.failed(outcome.message);
        return;
      case "host-failed":
        this.#noteFailure(outcome.reason);
        return host.failed(outcome.message);
    }
  }

  #noteUse({ callers }: LimitedRequest): void {
    this.#lastSuccessAtMs = this.#clock.nowMs();
    for (const { namespace } of callers.members) if (namespace !== "" && !this.isShared) this.#users.add(namespace);
  }

  #noteFailure(reason: FailureReason): void {
    this.#lastFailure = { reason, atMs: this.#clock.nowMs() };
  }

  #isHostFailing({ isTokenServer = false }: LimitedRequest): boolean {
    if (isTokenServer) return false;
    const own = [...this.#groups.keys()].filter((key) => !key.startsWith(TOKEN_SERVER));
    return this.#circuit.breaker.state !== "closed" || own.length >= GROUPS_OF_A_HOST;
  }

  #group(request: LimitedRequest): Circuit | undefined {
    return this.#groups.get(keyOfGroup(request));
  }

  #failingGroup(request: LimitedRequest): Circuit {
    const subject = { registry: this.#host, repositories: groupOf(request.repository) };
    return touch(this.#groups, keyOfGroup(request), () => new Circuit(subject, this.#reporter, this.#clock));
  }

  #account(name: string): AccountLimit {
    return touch(this.#accounts, name, () => new AccountLimit(this.#host, this.#clock));
  }
}

type Forgettable = Pick<AccountLimit, "isUnlimited" | "pausedForMs"> & Partial<NarrowerLimit>;

/** The limit of this name, made where there is none, as the one of last use. Beyond MAX_LIMITS one is forgotten. */
function touch<T extends Forgettable>(all: Map<string, T>, name: string, make: () => T): T {
  const limit = all.get(name) ?? make();
  all.delete(name);
  all.set(name, limit);
  if (all.size > MAX_LIMITS) forgetOne(all, limit);
  return limit;
}

/** The one of oldest use: rather one that holds back no request, else one without a pause. */
function forgetOne<T extends Forgettable>(all: Map<string, T>, current: T): void {
  const unused = [...all].filter(([, one]) => one !== current && (one.taken ?? 0) === 0);
  if (unused.length < MAX_LIMITS) return;
  const unlimited = unused.filter(([, one]) => one.isUnlimited);
  const [least] = [...unlimited, ...unused.filter(([, one]) => one.pausedForMs === 0), ...unused];
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
