// The dead-man switch: whether this replica may still gate pods. A gate that no leader removes is worse than none, so every
// doubt says no.

/** What is known of the cluster config: `unread` until the first list has arrived. */
export type ConfigPresence = "unread" | "absent" | "leaving" | "present";

/** What is known of the replica that removes gates. */
export interface LeaderSight {
  /** undefined when no replica was ever seen holding the Lease. */
  readonly silentForMs: number | undefined;
  /** What the leader says it cannot do; undefined when it does its work. */
  readonly impairment?: string | undefined;
}

/** Why pods are not gated; the same word is in the condition, the log line and the metric's help. */
export type GatingStop =
  | "ConfigUnread"
  | "ConfigAbsent"
  | "ConfigLeaving"
  | "NoLeader"
  | "LeaderSilent"
  | "LeaderImpaired";

/** The answer. */
export type GatingHealth =
  | { readonly kind: "gating" }
  | { readonly kind: "stopped"; readonly reason: GatingStop };

/** Two durations of the Lease (15 s each): by then a healthy replica would have taken over. */
export const LEADER_SILENCE_MS = 30_000;

/** Decides. First match wins; all unknowns fail open, towards pods that run. */
export function decideGating(config: ConfigPresence, leader: LeaderSight): GatingHealth {
  const rules: readonly (readonly [GatingStop, boolean])[] = [
    ["ConfigUnread", config === "unread"],
    ["ConfigAbsent", config === "absent"],
    ["ConfigLeaving", config === "leaving"],
    ["NoLeader", leader.silentForMs === undefined],
    ["LeaderSilent", leader.silentForMs !== undefined && leader.silentForMs >= LEADER_SILENCE_MS],
    ["LeaderImpaired", leader.impairment !== undefined],
  ];
  const [reason] = rules.find(([, holds]) => holds) ?? [];
  return reason === undefined ? { kind: "gating" } : { kind: "stopped", reason };
}
