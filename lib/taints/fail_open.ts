// When a replica that does not lead lifts the taints: with no leader to give tolerations, they would keep new pods from every
// node.

/** What a replica has observed of the leader. */
export interface LeaderSilence {
  readonly isLeader: boolean;
  /** Since a renewal of the Lease was last seen; since the start of this process when none was (ms). */
  readonly silentForMs: number;
  /** How long the Lease has been read again and again, each time with an answer, without a renewal (ms). */
  readonly provenForMs: number;
  /** After how long without a leader the taints are lifted (ms). */
  readonly afterMs: number;
}

/** The answer. */
export type FailOpenDecision =
  /** There is a leader, or there may be one soon. */
  | { readonly kind: "closed" }
  /** The Lease must be seen unchanged by fresh reads: a replica that could not read it saw no renewals either. */
  | { readonly kind: "prove" }
  | { readonly kind: "lift" };

/** Longer than a Lease lasts: a replica that is alive would have taken it meanwhile (ms). */
const PROOF_MS = 20_000;

/** Decides. Every doubt keeps the taints for the moment. */
export function decideFailOpen({ isLeader, silentForMs, provenForMs, afterMs }: LeaderSilence): FailOpenDecision {
  if (isLeader || silentForMs < afterMs) return { kind: "closed" };
  return provenForMs < Math.min(PROOF_MS, afterMs) ? { kind: "prove" } : { kind: "lift" };
}
