// Tells a replica that does not lead whether any replica leads: by the election, then by reads of the Lease.
import type { Clock } from "../clock.ts";
import { errorText, type Logger } from "../log.ts";
import { ignoring, type ReadApi, readOptional } from "./api.ts";
import { isForbidden } from "./api_error.ts";
import type { LeaseView } from "./election.ts";
import { parseLease } from "./lease_lock.ts";
import { Resource } from "./types.ts";

export interface LeaderSilence {
  readonly isLeader: boolean;
  /** Time since the last observed Lease renewal, or since the start of this process (ms). */
  readonly silentForMs: number;
  /** How long every read has shown the same Lease, or was answered 403 (ms). */
  readonly provenForMs: number;
  readonly answeredAgoMs: number;
}

export interface AbsenceLimits {
  readonly silenceMs: number;
  readonly proofMs: number;
}

/** `doubtful`: the Lease must be reread, since a replica cut off from the API server sees no renewals either. */
type LeaderState = "present" | "doubtful" | "absent";

/** Longest validity of an answer (ms): this process may have been suspended since the answer. */
const ANSWER_MAX_AGE_MS = 5_000;

export function decideLeaderState(silence: LeaderSilence, { silenceMs, proofMs }: AbsenceLimits): LeaderState {
  const { isLeader, silentForMs, provenForMs, answeredAgoMs } = silence;
  if (isLeader || silentForMs < silenceMs) return "present";
  return provenForMs >= proofMs && answeredAgoMs <= ANSWER_MAX_AGE_MS ? "absent" : "doubtful";
}

export interface LeaderWatchDeps extends LeaseReading {
  readonly log: Logger;
  readonly view: () => LeaseView;
}

/** Sends no request to the API server while a replica leads. */
export class LeaderWatch {
  readonly #deps: LeaderWatchDeps;
  readonly #limits: AbsenceLimits;
  readonly #startedMs: number;
  #proof: LeaseProof | undefined;

  constructor(deps: LeaderWatchDeps, limits: AbsenceLimits) {
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

/** Reads of the Lease with the same answer. Times are of our monotonic clock. */
export interface LeaseProof {
  /** The renewal in each read, empty without a Lease; undefined when forbidden (403). */
  readonly renewal: string | undefined;
  readonly sinceMs: number;
  readonly untilMs: number;
}

interface LeaseReading {
  readonly api: ReadApi;
  readonly clock: Clock;
  readonly lease: { readonly namespace: string; readonly name: string };
}

/** Reads the Lease again. Throws for no answer and for errors other than 403: neither proves anything. */
export async function readLeaseProof(
  { api, clock, lease }: LeaseReading,
  earlier: LeaseProof | undefined,
  signal: AbortSignal,
): Promise<LeaseProof> {
  const sentMs = clock.monotonicMs();
  const read = readOptional(api, { type: Resource.leases, ...lease, signal });
  const renewal = await ignoring(isForbidden, read.then((found) => found ? parseLease(found).renewal : ""));
  if (earlier !== undefined && earlier.renewal === renewal) return { ...earlier, untilMs: sentMs };
  const nowMs = clock.monotonicMs();
  return { renewal, sinceMs: nowMs, untilMs: nowMs };
}

export function provenForMs(proof: LeaseProof | undefined): number {
  return proof === undefined ? 0 : proof.untilMs - proof.sinceMs;
}
