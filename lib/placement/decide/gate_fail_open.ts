// When a non-leader removes a gate: no replica leads, and a leader would have released the pod by now.

/** `silenceMs`: the duration of a Lease; `proofMs`: twice the time in which an expired Lease is acquired. */
export const GATE_ABSENCE_LIMITS = { silenceMs: 6_000, proofMs: 15_000 } as const;

/** How much longer than a leader this replica waits (ms), in case other replicas can see a leader. */
const MARGIN_MS = 2_000;

/** Time until a pod of this age is overdue (ms); zero or less when it is. */
export function overdueInMs(
  { ageMs, maxGateAgeMs }: { readonly ageMs: number; readonly maxGateAgeMs: number },
): number {
  return maxGateAgeMs + MARGIN_MS - ageMs;
}

interface LeaderlessUngating {
  readonly gate: string;
  /** The Lease, as `namespace/name`. */
  readonly lease: string;
  readonly ageMs: number;
  readonly silentForMs: number;
  /** The API server's reason for refusing this replica the Lease; undefined without an answer. */
  readonly refusal: string | undefined;
}

export function renderLeaderlessUngating(ungating: LeaderlessUngating): string {
  const { gate, lease, ageMs, silentForMs, refusal } = ungating;
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
