// Whether this replica may gate pods. A gate that no leader removes is worse than none, so gating stops whenever it is not
// certain that a leader works.

/** State of the cluster config: `unread` until the first list has arrived. */
export type ConfigPresence = "unread" | "absent" | "leaving" | "present";

/** The leader, the replica that removes gates, as observed through the Lease. */
export interface LeaderObservation {
  /** Time since the last observed renewal; undefined when there was none. */
  readonly silentForMs: number | undefined;
  /** What the leader cannot do, by its own report in the Lease; undefined when it works. */
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

/** Five durations of the Lease: long before, a healthy replica would have taken over. */
export const LEADER_SILENCE_MS = 30_000;

/** The first rule that holds is the reason. Whatever is unknown stops gating: pods then pass ungated and run. */
export function decideGating(config: ConfigPresence, leader: LeaderObservation): GatingHealth {
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
