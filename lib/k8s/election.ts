// Leader election on a Lease: one replica writes, and every replica sees when the writer last renewed.
import { jitter } from "../clock.ts";
import { errorText, type Logger } from "../log.ts";
import { type KubeApi, withCalls } from "./api.ts";
import { ApiError } from "./api_error.ts";
import { type LeaderHealth, LeaseLock, type LeaseOptions, type LockView } from "./lease_lock.ts";

export interface LeaseView extends LockView {
  readonly isLeader: boolean;
}

/**
 * When the leader is gone, a pod waits less than 10 s for another. A lost Lease only costs another election. A leader
 * that has not renewed for `renewDeadlineMs` stops leading, well before another replica may start.
 */
export const LEASE_TIMING = { durationMs: 6_000, renewDeadlineMs: 4_000, retryMs: 1_000 } as const;

/** Time limit of one attempt (ms), which leaves time for another within the renew deadline. */
const ATTEMPT_TIMEOUT_MS = 2_000;

/** Runs while this replica leads. The signal aborts when the Lease is lost or the election ends. */
type Lead = (signal: AbortSignal) => Promise<void>;

export class Election {
  readonly #options: LeaseOptions;
  readonly #log: Logger;
  readonly #lock: LeaseLock;
  readonly #listeners: ((view: LeaseView) => void)[] = [];
  #leaderHealth: () => LeaderHealth = () => ({ kind: "healthy" });
  #isLeader = false;
  #waitsFor: string | undefined;
  #view: LeaseView;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#log = options.log.with({ lease: `${options.namespace}/${options.name}`, identity: options.identity });
    this.#lock = new LeaseLock({
      ...options,
      log: this.#log,
      durationMs: LEASE_TIMING.durationMs,
      leaderHealth: () => this.#leaderHealth(),
      onChange: () => this.#publish(),
    });
    this.#view = { ...this.#lock.view, isLeader: false };
  }

  view(): LeaseView {
    return this.#view;
  }

  /** The API for a leader. Reads always work; writes work only while no other replica can lead. */
  fence(api: KubeApi): KubeApi {
    return fenceWrites(api, () => this.#options.clock.monotonicMs() < (this.#view.heldUntilMs ?? 0));
  }

  /** Calls back at every change of the view, including renewals by any holder. */
  onChange(listener: (view: LeaseView) => void): void {
    this.#listeners.push(listener);
  }

  /** Repeatedly waits for the Lease, runs `lead` and publishes its health, until the signal aborts. Never rejects. */
  async run(lead: Lead, signal: AbortSignal, leaderHealth = this.#leaderHealth): Promise<void> {
    const { clock } = this.#options;
    this.#leaderHealth = leaderHealth;
    while (!signal.aborted) {
      const attempt = await this.#lock.attempt(ATTEMPT_TIMEOUT_MS, signal);
      if (attempt.kind === "taken") this.#reportHolder();
      if (attempt.kind === "held") await this.#leadFrom(attempt.sentMs, { lead, signal });
      if (!signal.aborted) await clock.sleep(jitter(LEASE_TIMING.retryMs, 1, 1.2), signal);
    }
  }

  /** Logs each other holder once: it may be another program with the same Lease. */
  #reportHolder(): void {
    const { holder } = this.#lock.view;
    if (holder === this.#waitsFor) return;
    this.#waitsFor = holder;
    this.#log.info("another holds the lease, waiting", { holder });
  }

  /** One term: leads until the Lease is lost, `lead` ends, or the signal aborts. Awaits the end of `lead`. */
  async #leadFrom(
    sentMs: number,
    { lead, signal }: { readonly lead: Lead; readonly signal: AbortSignal },
  ): Promise<void> {
    const term = new AbortController();
    const stop = (): void => term.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    this.#waitsFor = undefined;
    this.#enter(true);
    const leading = this.#lead(lead, term);
    const isLost = await this.#renewUntilLost(sentMs, term.signal);
    if (isLost) {
      this.#enter(false);
      term.abort(new DOMException("The Lease was lost", "AbortError"));
    }
    signal.removeEventListener("abort", stop);
    await leading;
    this.#lock.forgetOwn();
    if (isLost) return;
    await this.#lock.release();
    this.#enter(false);
  }

  async #lead(lead: Lead, term: AbortController): Promise<void> {
    try {
      await lead(term.signal);
      if (!term.signal.aborted) this.#log.warn("leading ended by itself, taking part again");
    } catch (error) {
      if (!term.signal.aborted) this.#log.error("leading failed, taking part again", { error: errorText(error) });
    } finally {
      term.abort();
    }
  }

  /** Renews until the signal aborts (false) or the Lease is lost (true). Uses only the monotonic clock. */
  async #renewUntilLost(sentMs: number, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const { retryMs, renewDeadlineMs } = LEASE_TIMING;
    let renewedMs = sentMs;
    for (;;) {
      await clock.sleep(Math.min(retryMs, renewedMs + renewDeadlineMs - clock.monotonicMs()), signal);
      if (signal.aborted) return false;
      const leftMs = renewedMs + renewDeadlineMs - clock.monotonicMs();
      if (leftMs <= 0) {
        this.#log.warn("lease could not be renewed in time, leading ends", { renewDeadlineMs });
        return true;
      }
      const attempt = await this.#lock.attempt(Math.min(leftMs, ATTEMPT_TIMEOUT_MS), signal);
      if (signal.aborted) return false;
      if (attempt.kind === "taken") {
        this.#log.warn("lease was taken by another, leading ends", { holder: this.#lock.view.holder });
        return true;
      }
      if (attempt.kind === "held") renewedMs = attempt.sentMs;
    }
  }

  #enter(isLeader: boolean): void {
    this.#isLeader = isLeader;
    this.#log.info(isLeader ? "leading begins" : "leading has ended");
    this.#publish();
  }

  #publish(): void {
    const seen = this.#lock.view;
    const isLeader = this.#isLeader;
    this.#view = { ...seen, isLeader, heldUntilMs: isLeader ? seen.heldUntilMs : undefined };
    for (const listener of this.#listeners) listener(this.#view);
  }
}

/** Writes throw unless `mayWrite`: a process suspended past the end of its Lease may write before any timer fires. */
export function fenceWrites(api: KubeApi, mayWrite: () => boolean): KubeApi {
  async function fenced<T>(write: () => Promise<T>): Promise<T> {
    if (mayWrite()) return await write();
    throw new ApiError("Cannot write: the Lease of this replica has run out. The current leader writes.", {
      status: 0,
    });
  }
  return withCalls(api, {
    create: (...call) => fenced(() => api.create(...call)),
    replace: (...call) => fenced(() => api.replace(...call)),
    patch: (...call) => fenced(() => api.patch(...call)),
    delete: (...call) => fenced(() => api.delete(...call)),
  });
}
