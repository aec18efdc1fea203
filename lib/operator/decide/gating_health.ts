// Whether this replica may gate pods: only while a leader certainly works, since a gate that nobody removes is worse
// than none.

/** State of the cluster config: `unread` until the first list has arrived. */
export type ConfigPresence = "unread" | "absent" | "deleting" | "present";

/** Why pods are not gated; the condition and the log line have the same word. */
export type GatingStop =
  | "ConfigUnread"
  | "ConfigAbsent"
  | "ConfigLeaving"
  | "NoLeader"
  | "LeaderSilent"
  | "LeaderImpaired";

export type GatingHealth =
  | { readonly kind: "gating" }
  | { readonly kind: "stopped"; readonly reason: GatingStop };

/** Five durations of the Lease: a healthy replica would have taken over long before. */
export const LEADER_SILENCE_MS = 30_000;

/** The first rule that holds gives the reason. Unknown facts stop gating. `silentForMs`: since the last renewal. */
export function decideGating(
  config: ConfigPresence,
  silentForMs: number | undefined,
  impairment: string | undefined,
): GatingHealth {
  const rules: readonly (readonly [GatingStop, boolean])[] = [
    ["ConfigUnread", config === "unread"],
    ["ConfigAbsent", config === "absent"],
    ["ConfigLeaving", config === "deleting"],
    ["NoLeader", silentForMs === undefined],
    ["LeaderSilent", silentForMs !== undefined && silentForMs >= LEADER_SILENCE_MS],
    ["LeaderImpaired", impairment !== undefined],
  ];
  const [reason] = rules.find(([, holds]) => holds) ?? [];
  return reason === undefined ? { kind: "gating" } : { kind: "stopped", reason };
}
