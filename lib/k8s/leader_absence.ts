// Whether the leader is missing, for a replica that does not lead: by the election, then by reads of the Lease.
import type { Clock } from "../clock.ts";
import { errorText, type Logger } from "../log.ts";
import { type ReadApi, readOptional } from "./api.ts";
import { isForbidden } from "./errors.ts";
import type { LeaseView } from "./lease.ts";
import { parseLease } from "./lease_lock.ts";
import { Resource } from "./types.ts";

export interface LeaderSilence {
  readonly isLeader: boolean;
  /** Since a renewal of the Lease was last seen; since the start of this process when none was (ms). */
  readonly silentForMs: number;
  /** For how long every read of the Lease has shown it unchanged, or was answered 403 (ms). */
  readonly provenForMs: number;
  readonly answeredAgoMs: number;
}

export interface AbsenceLimits {
  readonly silenceMs: number;
  readonly proofMs: number;
}

/** `doubtful`: the Lease must be read afresh, since a replica without the API server saw no renewals either. */
type LeaderState = "present" | "doubtful" | "absent";

/** Oldest answer that still counts (ms): this process may have been suspended since. */
const ANSWER_MAX_AGE_MS = 5_000;

export function decideLeaderState(silence: LeaderSilence, { silenceMs, proofMs }: AbsenceLimits): LeaderState {
  const { isLeader, silentForMs, provenForMs, answeredAgoMs } = silence;
  if (isLeader || silentForMs < silenceMs) return "present";
  return provenForMs >= proofMs && answeredAgoMs <= ANSWER_MAX_AGE_MS ? "absent" : "doubtful";
}

export interface LeaderAbsenceDeps extends LeaseReading {
  readonly log: Logger;
  readonly view: () => LeaseView;
}

/** Sends no request to the API server while a replica leads. */
export class LeaderAbsence {
  readonly #deps: LeaderAbsenceDeps;
  readonly #limits: AbsenceLimits;
  readonly #startedMs: number;
  #proof: LeaseProof | undefined;

  constructor(deps: LeaderAbsenceDeps, limits: AbsenceLimits) {
    this.#deps = deps;
    this.#limits = limits;
    this.#startedMs = deps.clock.monotonicMs();
  }

  get state(): LeaderState {
    const { clock, view } = this.#deps;
    const proof = this.#proof;
    return decideLeaderState({
      isLeader: view().isLeader,
      silentForMs: this.silentForMs,
      provenForMs: provenForMs(proof),
      answeredAgoMs: proof === undefined ? Infinity : clock.monotonicMs() - proof.untilMs,
    }, this.#limits);
  }

  get silentForMs(): number {
    const { clock, view } = this.#deps;
    return clock.monotonicMs() - Math.max(this.#startedMs, view().lastRenewObservedMs ?? 0);
  }

  async check(signal: AbortSignal): Promise<LeaderState> {
    if (this.state === "present") this.#proof = undefined;
    else {
      try {
        this.#proof = await readLeaseProof(this.#deps, this.#proof, signal);
      } catch (error) {
        this.#proof = undefined;
        this.#deps.log.debug("the Lease gives no answer, its leader counts as present", { reason: errorText(error) });
      }
    }
    return this.state;
  }
}

/** Reads of the Lease that all gave the same answer. Times are those of our monotonic clock. */
export interface LeaseProof {
  /** The renewal that each read showed, empty where there is no Lease; undefined when it may not be read (403). */
  readonly renewal: string | undefined;
  readonly sinceMs: number;
  readonly untilMs: number;
}

interface LeaseReading {
  readonly api: ReadApi;
  readonly clock: Clock;
  readonly lease: { readonly namespace: string; readonly name: string };
}

/** Reads the Lease once more. Throws when no answer comes, or another error than 403: then nothing is proven. */
export async function readLeaseProof(
  { api, clock, lease }: LeaseReading,
  earlier: LeaseProof | undefined,
  signal: AbortSignal,
): Promise<LeaseProof> {
  const sentMs = clock.monotonicMs();
  const renewal = await readRenewal(api, lease, signal);
  if (earlier !== undefined && earlier.renewal === renewal) return { ...earlier, untilMs: sentMs };
  const nowMs = clock.monotonicMs();
  return { renewal, sinceMs: nowMs, untilMs: nowMs };
}

export function provenForMs(proof: LeaseProof | undefined): number {
  return proof === undefined ? 0 : proof.untilMs - proof.sinceMs;
}

async function readRenewal(
  api: ReadApi,
  lease: LeaseReading["lease"],
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const object = await readOptional(api, { type: Resource.leases, ...lease, signal });
    return object === undefined ? "" : parseLease(object).renewal;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
