// One word per decision, from a closed set: the reason in log lines and on the dashboard.
import { assertNever } from "../../../parsed.ts";
import type { AdmissionVerdict, IgnoreReason, PlacementDecision } from "../decision_types.ts";

export type DecisionReason =
  | IgnoreReason
  | "Placed"
  | "PlacedOutOfReach"
  | "PreferencesOnly"
  | "NoSharedArchitecture"
  | "InspectionFailing"
  | "FellBack"
  | "GaveUp";

export function decisionReason(decision: PlacementDecision): DecisionReason {
  switch (decision.kind) {
    case "ignore":
      return decision.reason;
    case "place":
      if (decision.required.kind === "user-constrained") return "PreferencesOnly";
      return decision.isOutOfReach ? "PlacedOutOfReach" : "Placed";
    case "nowhere":
      return "NoSharedArchitecture";
    case "retry":
      return "InspectionFailing";
    case "fallback":
      return "FellBack";
    case "release":
      return "GaveUp";
    default:
      return assertNever(decision);
  }
}

export function verdictReason(verdict: AdmissionVerdict): DecisionReason | "GatingStopped" | "Gated" | "OwnPatch" {
  switch (verdict.kind) {
    case "ignore":
    case "pass":
      return verdict.reason;
    case "gate":
      return "Gated";
    case "place":
      return verdict.isRepeated ? "OwnPatch" : decisionReason(verdict.decision);
    default:
      return assertNever(verdict);
  }
}
