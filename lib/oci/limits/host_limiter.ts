// The requests to one registry host. A refusal counts against its cause alone: an account that sends too many requests (429), a group
// of repositories that fails (5xx, no answer), or the host, when it cannot be reached or several groups fail.
//
//   run ─ refused? ─ paused? ─ place of the account ─ place of the host ─ send ─ note what came of it
//            └ CircuitOpen, RateLimited      └ both fair by namespace
import { Breaker } from "../../breaker.ts";
import type { Clock } from "../../clock.ts";
import type { Callers } from "../shared_call.ts";
import { type InspectionError, inspectionError } from "../errors.ts";
import type { Caller } from "../inspector.ts";
import { AccountLimiter } from "./account_limiter.ts";
import { mostUrgent } from "./callers.ts";
import { FairLimiter, HOST_PLACES, type Place } from "./fair_limiter.ts";
import type { HealthReporter } from "./health_reporter.ts";
import type { HostState } from "./host_state.ts";
import type { Outcome } from "./outcome.ts";
import { BREAKER, groupOf, RepositoryHealth } from "./repository_health.ts";

/** What a request is for: repository and account, and the namespaces that requested it. */
export interface RequestAbout {
  /** `host[:port]` that it is sent to. */
  readonly host: string;
  /** The group of repositories that a 5xx counts against. */
  readonly repository: string;
  /** Another registry names the host as its token server: what goes wrong may be its doing, and never stops the host. */
  readonly isForeign?: boolean | undefined;
  /** HTTP method; absent: one whose answer has a body. */
  readonly method?: string | undefined;
  /** Equal for requests that the registry counts together: the fingerprint of the credential. */
  readonly account: string;
  /** Whose shares it counts in, and how urgent it is; both may grow while it waits. */
  readonly callers: Callers<Caller>;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

/** Failing groups of repositories at which the host itself counts as failing. */
const GROUPS_OF_A_HOST = 3;
/**
 * Accounts and failing groups that are kept of one host, beside accounts with requests under way; those with the least state
 * are dropped first. Who names the host may bring any number of passwords for it.
 */
const MAX_KEPT = 64;

/** A host. Every successful {@link enter} is followed by one {@link leave}. */
export class HostLimiter {
  readonly #host: string;
  readonly #clock: Clock;
  readonly #reporter: HealthReporter;
  readonly #breaker: Breaker;
  readonly #places: FairLimiter;
  readonly #accounts = new Map<string, AccountLimiter>();
  /** Those that failed since they last answered. */
  readonly #groups = new Map<string, RepositoryHealth>();
  #lastError = "";
  #lastSuccessAtMs: number | undefined;
  /** When it last answered anything but 5xx (monotonic ms). */
  #lastAnswerMs = -Infinity;
  #lastFailure: HostState["lastFailure"];
  /** Namespaces that it has answered with content. */
  readonly users = new Set<string>();

  /** No request yet. */
  constructor(
    options: { readonly host: string; readonly clock: Clock; readonly reporter: HealthReporter },
  ) {
    this.#host = options.host;
    this.#clock = options.clock;
    this.#reporter = options.reporter;
    this.#breaker = new Breaker({ clock: options.clock, ...BREAKER });
    this.#places = new FairLimiter({
      ...HOST_PLACES,
      mayGive: () => this.#breaker.tryPass(),
      onUnused: () => this.#breaker.withdrew(),
    });
  }

  /** Whether no request holds or awaits a place: the state may be dropped. */
  get isIdle(): boolean {
    return this.#places.taken + this.#places.waiting === 0;
  }

  /** Whether it has ever answered anything but 5xx. */
  get hasAnswered(): boolean {
    return this.#lastAnswerMs > -Infinity;
  }

  /** The state as of now. */
  get state(): HostState {
    const accounts = [...this.#accounts.values()];
    const pausedForMs = Math.max(0, ...accounts.map(({ pause }) => pause.leftMs));
    const remaining = accounts.map((account) => account.remaining).filter((left) => left !== undefined);
    return {
      host: this.#host,
      circuit: this.#circuit,
      inFlight: this.#places.taken,
      limit: Math.min(HOST_PLACES.limit, ...accounts.map(({ places }) => places.limit)),
      waiting: this.#places.waiting + accounts.reduce((sum, { places }) => sum + places.waiting, 0),
      ...(remaining.length === 0 ? {} : { remaining: Math.min(...remaining) }),
      ...(pausedForMs === 0 ? {} : { pausedForMs }),
      ...(this.#groups.size === 0 ? {} : { failingRepositories: this.#groups.size }),
      ...(this.#lastSuccessAtMs === undefined ? {} : { lastSuccessAtMs: this.#lastSuccessAtMs }),
      ...(this.#lastFailure === undefined ? {} : { lastFailure: this.#lastFailure }),
    };
  }

  /** For others, a host that only ever failed lately is as good as its failing repositories: there is no sign that it works. */
  get #circuit(): HostState["circuit"] {
    if (this.#breaker.state !== "closed") return this.#breaker.state;
    const failing = [...this.#groups.values()].find(({ circuit, sinceMs }) =>
      circuit !== "closed" && sinceMs > this.#lastAnswerMs
    );
    return failing?.circuit ?? "closed";
  }

  /** Waits for a place. Throws InspectionError (CircuitOpen, RateLimited) when the wait would be long, or the signal's reason. */
  async enter(about: RequestAbout): Promise<Place> {
    const { signal, callers } = about;
    for (;;) {
      signal.throwIfAborted();
      // It may have been forgotten while this waited for a pause to end.
      const account = this.#account(about.account);
      const refusal = this.#refusal(about, account);
      if (refusal !== undefined) throw refusal;
      const pause = this.#pauseOf(about, account);
      if (pause !== undefined) {
        await pause.wait(signal);
        continue;
      }
      const ofAccount = await account.places.acquire(callers, signal);
      const ofHost = await this.#places.acquire(callers, signal).catch((error: unknown) => {
        ofAccount.release();
        throw error;
      });
      const place = {
        release: () => {
          ofHost.release();
          ofAccount.release();
        },
      };
      // While it waited, its account or repository may have been refused.
      const isFree = this.#pauseOf(about, account) === undefined && this.#refusal(about, account) === undefined;
      if (isFree && (this.#group(about)?.tryPass() ?? true)) return place;
      this.#breaker.withdrew();
      place.release();
    }
  }

  /** Gives the place back and notes what came of it. */
  leave(place: Place, { about, outcome }: { readonly about: RequestAbout; readonly outcome: Outcome }): void {
    this.#note(about, about.isForeign === true ? ofRegistryAlone(outcome) : outcome);
    place.release();
    this.#places.giveFree();
    if (this.#breaker.state === "open") this.#places.refuseAll(() => this.#circuitOpen(this.#breaker.openForMs, ""));
    const account = this.#accounts.get(about.account);
    const refusal = account?.refusal(this.#host, "gated");
    if (refusal !== undefined) account?.places.refuseAll(() => this.#rateLimited(refusal));
  }

  #refusal(about: RequestAbout, account: AccountLimiter): InspectionError | undefined {
    if (this.#breaker.state === "open") return this.#circuitOpen(this.#breaker.openForMs, "");
    const group = this.#group(about)?.refusal();
    if (group !== undefined) {
      return this.#circuitOpen(
        group.retryAfterMs,
        ` for repositories of "${groupOf(about.repository)}"`,
        group.lastError,
      );
    }
    const refusal = account.refusal(this.#host, mostUrgent(about.callers));
    return refusal === undefined ? undefined : this.#rateLimited(refusal);
  }

  #pauseOf(about: RequestAbout, account: AccountLimiter): AccountLimiter["pause"] | undefined {
    if (account.pause.leftMs > 0) return account.pause;
    const group = this.#group(about);
    return group !== undefined && group.pause.leftMs > 0 ? group.pause : undefined;
  }

  #circuitOpen(openForMs: number, scope: string, lastError = this.#lastError): InspectionError {
    const registry = this.#host;
    const message =
      `Cannot ask registry "${registry}"${scope}: it keeps failing and is left alone for a moment. Last error: ${lastError}`;
    return inspectionError("CircuitOpen", message, { registry, retryAfterMs: Math.ceil(openForMs) });
  }

  #rateLimited(
    { message, retryAfterMs }: { readonly message: string; readonly retryAfterMs: number },
  ): InspectionError {
    return inspectionError("RateLimited", message, { registry: this.#host, retryAfterMs });
  }

  #note(about: RequestAbout, outcome: Outcome): void {
    const atMs = this.#clock.nowMs();
    const subject = { registry: this.#host };
    const name = groupOf(about.repository);
    const key = keyOfGroup(about);
    const account = this.#account(about.account);
    switch (outcome.kind) {
      case "nothing":
        this.#group(about)?.withdrew();
        return this.#breaker.withdrew();
      case "answered":
        this.#worked();
        this.#groups.delete(key);
        account.answered(outcome.remaining);
        if (outcome.status < 400) this.#lastSuccessAtMs = atMs;
        this.#reporter.worked(subject);
        return this.#reporter.worked({ ...subject, repositories: name });
      case "rate-limited":
        // The host works, so its circuit stays closed; only this account is limited.
        this.#worked();
        this.#group(about)?.withdrew();
        this.#lastFailure = { reason: "RateLimited", atMs };
        return account.refused(outcome.pauseMs);
      case "overloaded":
        this.#breaker.succeeded();
        this.#lastFailure = { reason: "ServerError", atMs };
        return this.#failingGroup(key).paused(outcome.pauseMs, outcome.message);
      case "repository-failed":
        this.#lastFailure = { reason: outcome.reason, atMs };
        this.#failingGroup(key).failed(outcome.message);
        this.#reporter.failed({ ...subject, repositories: name }, outcome.message);
        return this.#isHostFailing(about) ? this.#hostFailed(outcome.message) : this.#breaker.withdrew();
      case "host-failed":
        this.#lastFailure = { reason: outcome.reason, atMs };
        this.#group(about)?.withdrew();
        this.#reporter.failed(subject, outcome.message);
        return this.#hostFailed(outcome.message);
    }
  }

  #worked(): void {
    this.#lastAnswerMs = this.#clock.monotonicMs();
    this.#breaker.succeeded();
  }

  #hostFailed(message: string): void {
    this.#lastError = message;
    this.#breaker.failed();
  }

  #isHostFailing({ isForeign = false }: RequestAbout): boolean {
    if (isForeign) return false;
    const own = [...this.#groups.keys()].filter((key) => !key.startsWith(FOREIGN));
    return this.#breaker.state !== "closed" || own.length >= GROUPS_OF_A_HOST;
  }

  #group(about: RequestAbout): RepositoryHealth | undefined {
    return this.#groups.get(keyOfGroup(about));
  }

  #failingGroup(name: string): RepositoryHealth {
    const group = this.#groups.get(name) ?? new RepositoryHealth(this.#clock);
    this.#groups.delete(name);
    this.#groups.set(name, group);
    const [first] = this.#groups.keys();
    if (this.#groups.size > MAX_KEPT && first !== undefined) this.#groups.delete(first);
    return group;
  }

  #account(name: string): AccountLimiter {
    const account = this.#accounts.get(name) ?? new AccountLimiter(this.#clock);
    this.#accounts.delete(name);
    this.#accounts.set(name, account);
    if (this.#accounts.size > MAX_KEPT) this.#forgetAccount(account);
    return account;
  }

  #forgetAccount(current: AccountLimiter): void {
    const unused = [...this.#accounts].filter(([, account]) => account !== current && account.isUnused);
    if (unused.length < MAX_KEPT) return;
    const [least = unused[0]] = [
      ...unused.filter(([, account]) => account.isIdle),
      ...unused.filter(([, account]) => account.pause.leftMs === 0),
    ];
    if (least !== undefined) this.#accounts.delete(least[0]);
  }
}

/** What no repository begins with. */
const FOREIGN = "@";

function keyOfGroup({ repository, isForeign = false }: RequestAbout): string {
  return isForeign ? FOREIGN + repository : groupOf(repository);
}

/** A host that cannot be reached for one registry's sake may be within reach of all others: long addresses are cut off. */
function ofRegistryAlone(outcome: Outcome): Outcome {
  return outcome.kind === "host-failed" ? { ...outcome, kind: "repository-failed" } : outcome;
}
