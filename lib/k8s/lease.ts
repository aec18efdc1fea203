// Leader election on a Lease: one replica writes, and every replica knows when the writer was last heard of.
import type { Clock } from "../clock.ts";
import { errorText, type Logger } from "../log.ts";
import type { KubeApi } from "./api.ts";
import { LeaseLock } from "./lease_lock.ts";

/** What a replica knows of the Lease. */
export interface LeaseView {
  /** Who holds it; undefined when nobody does, or nobody was seen yet. */
  readonly holder: string | undefined;
  readonly isLeader: boolean;
  /** When a holder was last seen to renew (our monotonic clock); undefined when never. For the dead-man switch. */
  readonly lastRenewObservedMs: number | undefined;
  /** Until when nobody else may lead (our monotonic clock), by our last renewal; undefined while we do not lead. */
  readonly heldUntilMs: number | undefined;
}

/** What is known before the first look. */
export const NO_LEASE_SEEN: LeaseView = {
  holder: undefined,
  isLeader: false,
  lastRenewObservedMs: undefined,
  heldUntilMs: undefined,
};

/** The times of an election, as client-go has them. */
export interface LeaseTiming {
  /** A Lease that was not renewed for so long is free. */
  readonly durationMs: number;
  /** A leader that could not renew for so long stops leading: well before anybody else may start. */
  readonly renewDeadlineMs: number;
  /** Between two renewals, and between two looks of those who wait. */
  readonly retryMs: number;
}

/** 15 s, 10 s, 2 s. */
export const LEASE_TIMING: LeaseTiming = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

/** One request may take this long: a hanging one leaves time for another within the renew deadline. */
const ATTEMPT_TIMEOUT_MS = 5_000;

/** Which Lease, who we are, and what to do while we hold it. */
export interface LeaseOptions {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly name: string;
  /** Unique for this process: pod name plus something random. */
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Runs while we lead; its signal aborts when the Lease is lost or `runWithLease` is to end. Should last until then. */
  readonly lead: (signal: AbortSignal) => Promise<void>;
  /** Told of every change of what is known, a renewal by whoever holds the Lease included. */
  readonly onState?: (view: LeaseView) => void;
  readonly timing?: LeaseTiming;
}

/**
 * Takes part in the election until the signal aborts: waits for the Lease, leads, and when it is lost waits again. Gives
 * it up at the end. Never rejects: faults of the API and of `lead` are logged and tried again.
 */
export async function runWithLease(options: LeaseOptions, signal: AbortSignal): Promise<void> {
  await new Election(options).run(signal);
}

class Election {
  readonly #options: LeaseOptions;
  readonly #timing: LeaseTiming;
  readonly #log: Logger;
  readonly #claimant: LeaseLock;
  #isLeader = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#timing = options.timing ?? LEASE_TIMING;
    this.#log = options.log.with({ lease: `${options.namespace}/${options.name}`, identity: options.identity });
    const { api, namespace, name, identity, clock } = options;
    this.#claimant = new LeaseLock({
      api,
      namespace,
      name,
      identity,
      clock,
      log: this.#log,
      durationMs: this.#timing.durationMs,
      onChange: () => this.#tell(),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const attempt = await this.#claimant.attempt(ATTEMPT_TIMEOUT_MS, signal);
      if (attempt.kind === "held") await this.#leadFrom(attempt.sentMs, signal);
      // Those who wait spread out, so that they do not all find a free Lease in the same moment.
      if (!signal.aborted) await clock.sleep(this.#timing.retryMs * (1 + Math.random() * 0.2), signal);
    }
  }

  /** One term: leads until the Lease is lost, `lead` ends, or the signal aborts. Returns when `lead` has ended. */
  async #leadFrom(sentMs: number, signal: AbortSignal): Promise<void> {
    const term = new AbortController();
    const stop = (): void => term.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    this.#enter(true);
    const leading = this.#lead(term);
    const isLost = await this.#renewUntilLost(sentMs, term.signal);
    if (isLost) {
      this.#enter(false);
      term.abort(new DOMException("The Lease was lost", "AbortError"));
    }
    signal.removeEventListener("abort", stop);
    await leading;
    this.#claimant.forgetOwn();
    if (isLost) return;
    await this.#claimant.release();
    this.#enter(false);
  }

  /** Runs `lead`; when it ends, the term ends. */
  async #lead(term: AbortController): Promise<void> {
    try {
      await this.#options.lead(term.signal);
      if (!term.signal.aborted) this.#log.warn("leading ended by itself, taking part again");
    } catch (error) {
      if (!term.signal.aborted) this.#log.error("leading failed, taking part again", { error: errorText(error) });
    } finally {
      term.abort();
    }
  }

  /** Renews until the signal aborts (false) or the Lease is lost (true). Counts by the monotonic clock alone. */
  async #renewUntilLost(sentMs: number, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const { retryMs, renewDeadlineMs } = this.#timing;
    let renewedMs = sentMs;
    for (;;) {
      await clock.sleep(Math.min(retryMs, renewedMs + renewDeadlineMs - clock.monotonicMs()), signal);
      if (signal.aborted) return false;
      const leftMs = renewedMs + renewDeadlineMs - clock.monotonicMs();
      if (leftMs <= 0) {
        this.#log.warn("lease could not be renewed in time, leading ends", { renewDeadlineMs });
        return true;
      }
      const attempt = await this.#claimant.attempt(Math.min(leftMs, ATTEMPT_TIMEOUT_MS), signal);
      if (signal.aborted) return false;
      if (attempt.kind === "taken") {
        this.#log.warn("lease was taken by another, leading ends", { holder: this.#claimant.holder });
        return true;
      }
      if (attempt.kind === "held") renewedMs = attempt.sentMs;
    }
  }

  #enter(isLeader: boolean): void {
    this.#isLeader = isLeader;
    this.#log.info(isLeader ? "leading begins" : "leading has ended");
    this.#tell();
  }

  #tell(): void {
    const { holder, lastRenewObservedMs, heldUntilMs } = this.#claimant;
    const isLeader = this.#isLeader;
    const view = { holder, isLeader, lastRenewObservedMs, heldUntilMs: isLeader ? heldUntilMs : undefined };
    this.#options.onState?.(view);
  }
}
