// Audit mode: changes nothing, and reports in an event on the pod what Archway would do.
import { EventReason } from "../../../names.ts";
import { assertNever } from "../../../parsed.ts";
import { decideIgnoringGate } from "../decide.ts";
import type { PlacementDecision } from "../decision_types.ts";
import { failureText } from "../failures.ts";
import { normal, type PodEvent, warning } from "./event_slots.ts";
import type { PlacementFacts } from "../facts.ts";

type AuditFacts = Pick<PlacementFacts, "pod" | "settings" | "evidence" | "liveArchitectures">;

/** The decision without audit mode. A failed inspection counts as given up. */
export function auditDecision(facts: AuditFacts): PlacementDecision {
  const rounds = { failedAttempts: 0, permanentFailures: 0, jitter: 0, gateAgeMs: facts.settings.maxGateAgeMs };
  return decideIgnoringGate({ ...facts, ...rounds });
}

/** The event of an audited pod; none when it would be left alone. */
export function auditEvents(decision: PlacementDecision): readonly PodEvent[] {
  const would = wouldDo(decision);
  if (would === undefined) return [];
  const message = `Audit mode, nothing was changed: Archway would ${would}.`;
  if (decision.kind === "place") return [normal(EventReason.predicateSet, message)];
  const isNowhere = decision.kind === "nowhere";
  return [warning(isNowhere ? EventReason.noSupportedArchitectures : EventReason.inspectionError, message)];
}

function wouldDo(decision: PlacementDecision): string | undefined {
  switch (decision.kind) {
    case "ignore":
    case "retry":
      return undefined;
    case "place":
      return decision.required.kind === "user-constrained"
        ? "only add preferences, because the pod constrains the architecture itself"
        : `set the supported architectures to {${decision.required.architectures.join(", ")}}`;
    case "nowhere":
      return "make the pod unschedulable, because its images share no architecture";
    case "fallback":
      return `fall back to {${decision.architecture}} (${failureText(decision.failed)})`;
    case "release":
      return `release the pod without a further requirement (${failureText(decision.failed)})`;
    default:
      return assertNever(decision);
  }
}
