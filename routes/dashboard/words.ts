// What decisions are called on the pages, and what they mean in words.
import { entryOf } from "../../lib/json.ts";
import type { DecisionKind, RecentDecision } from "../../lib/placement/decide/history/recent_decisions.ts";
import type { DecisionReason, verdictReason } from "../../lib/placement/decide/history/reason.ts";

export const KIND_WORDS: Readonly<Record<DecisionKind, { readonly label: string; readonly tone: string }>> = {
  place: { label: "placed", tone: "good" },
  gate: { label: "gated", tone: "wait" },
  retry: { label: "retrying", tone: "warn" },
  nowhere: { label: "nowhere", tone: "bad" },
  fallback: { label: "fell back", tone: "late" },
  release: { label: "released", tone: "late" },
  reduced: { label: "reduced", tone: "bad" },
  ignore: { label: "left alone", tone: "calm" },
  pass: { label: "passed", tone: "calm" },
};

type Reason = DecisionReason | ReturnType<typeof verdictReason> | "NoLeader";

const REASON_WORDS: Readonly<Record<Reason, string>> = {
  Placed: "may run where all its images do",
  PlacedOutOfReach: "no node has an architecture of all its images",
  PreferencesOnly: "its own constraint stays; preferences were added",
  NoSharedArchitecture: "its images share no architecture",
  InspectionFailing: "an image cannot be inspected; asked again",
  FellBack: "gave up on an image; has the fallback architecture",
  GaveUp: "gave up on an image; released as it was",
  Gated: "held until its images are known",
  GatingStopped: "new pods are not gated now",
  OwnPatch: "placed by an earlier call already",
  AuditMode: "its namespace is only audited",
  OperatorNamespace: "it is Archway's own",
  KubeNamespace: "its namespace is the cluster's own",
  NodeNameSet: "its node is named already",
  ControlPlaneSelector: "it is for control-plane nodes",
  DaemonSet: "a DaemonSet has it on its node",
  AlreadyConstrained: "it names its architectures itself",
  RuntimeClassSkipped: "its RuntimeClass is left alone",
  NotGated: "it has no gate",
  Deleting: "it is being deleted",
  NoLeader: "no replica led, so the gate alone was taken off",
};

export function wordsOf({ kind, reason }: Pick<RecentDecision, "kind" | "reason">): string {
  if (kind === "reduced" && reason !== "NoLeader") return "the API server took only part of it";
  return entryOf(REASON_WORDS, reason) ?? reason;
}

/** `MultiArchCapable` as words: `Multi arch capable`. */
export function spaced(id: string): string {
  const words = id.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
