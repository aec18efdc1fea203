// When a replica that does not lead takes gates off: while no replica leads, nothing else releases pods. It takes a leader that
// is certainly missing, and a pod that every leader would have released by now.

/** What a replica has observed of the leader. */
export interface LeaderAbsence {
  readonly isLeader: boolean;
  /** Since a renewal of the Lease was last seen; since the start of this process when none was (ms). */
  readonly silentForMs: number;
  /** How long reads of the Lease have been answered, each without a renewal: unchanged, or that it may not be read (ms). */
  readonly provenForMs: number;
  /** Since the latest of these answers (ms). */
  readonly answeredAgoMs: number;
}

/** The answer. */
export type GateFailOpen =
  /** There is a leader, or there may be one soon. */
  | { readonly kind: "closed" }
  /** The Lease must be read afresh: a replica that could not reach the API server saw no renewals either. */
  | { readonly kind: "prove" }
  /** No replica leads: pods that are overdue are released without one. */
  | { readonly kind: "open" };

/** As long as a Lease lasts without being renewed (ms). */
const SILENCE_MS = 6_000;

/** Twice as long as a replica needs to take a Lease that has run out: also one that has only begun to read it (ms). */
const PROOF_MS = 15_000;

/** An older answer says nothing of now: this process may have been suspended (ms). */
const ANSWER_MAX_AGE_MS = 5_000;

/** No sign of a leader for so long (ms), and pods are released without one. */
export const LEADERLESS_RELEASE_MS = SILENCE_MS + PROOF_MS;

/** A leader that this replica does not see, since only this one may not read the Lease, comes first by so much (ms). */
const MARGIN_MS = 2_000;

/** Decides. Whatever is in doubt keeps the gates for the moment. */
export function decideGateFailOpen(absence: LeaderAbsence): GateFailOpen {
  const { isLeader, silentForMs, provenForMs, answeredAgoMs } = absence;
  if (isLeader || silentForMs < SILENCE_MS) return { kind: "closed" };
  return { kind: provenForMs >= PROOF_MS && answeredAgoMs <= ANSWER_MAX_AGE_MS ? "open" : "prove" };
}

/** How long until a pod of this age is overdue (ms); zero or less when it is. */
export function overdueInMs(
  { ageMs, maxGateAgeMs }: { readonly ageMs: number; readonly maxGateAgeMs: number },
): number {
  return maxGateAgeMs + MARGIN_MS - ageMs;
}

/** What is said of one release without a leader. */
export interface LeaderlessRelease {
  readonly gate: string;
  /** The Lease, as `namespace/name`. */
  readonly lease: string;
  readonly ageMs: number;
  readonly silentForMs: number;
  /** What the API server answers to this replica's taking of the Lease; undefined when it has no answer. */
  readonly refusal: string | undefined;
}

/** The message of the pod's event: what was done, why, and what to do about it. */
export function renderLeaderlessRelease(release: LeaderlessRelease): string {
  const { gate, lease, ageMs, silentForMs, refusal } = release;
  const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
  return [
    `Removed the scheduling gate ${gate} after ${
      seconds(ageMs)
    } without placing the pod: no replica of Archway has led ` +
    `for ${seconds(silentForMs)}. The pod may start on a node that its images do not support.`,
    refusal === undefined
      ? `See why no replica holds the Lease ${lease}.`
      : `The Lease ${lease} cannot be taken: ${
        refusal.replace(/\.?$/, ".")
      } If a right is missing, apply Archway's manifests again.`,
    "Recreate the pod once a replica leads to have it placed by its images.",
  ].join(" ");
}
