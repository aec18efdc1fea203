// The decision about a gated pod, from its plan and the results of its image inspections.
import type { IgnoreReason, PlacementDecision } from "./decision_types.ts";
import { failingCount, nextAttemptAfterMs } from "./failures.ts";
import { isGated } from "./pod/constraints.ts";
import { giveUp, placeByImages } from "./place.ts";
import type { PlacementFacts } from "./facts.ts";

/** Why a stored pod is left alone, regardless of its images. The first match applies. */
const LEFT_ALONE: readonly { readonly reason: IgnoreReason; readonly holds: (facts: PlacementFacts) => boolean }[] = [
  { reason: "NotGated", holds: ({ pod }) => !isGated(pod) },
  { reason: "Deleting", holds: ({ pod }) => pod.isDeleting },
  { reason: "AuditMode", holds: ({ settings }) => settings.audit },
];

/** Decides about a stored pod. The same facts always give the same decision. */
export function decide(facts: PlacementFacts): PlacementDecision {
  const found = LEFT_ALONE.find(({ holds }) => holds(facts));
  return found === undefined ? decideIgnoringGate(facts) : { kind: "ignore", reason: found.reason };
}

/** The decision that {@link decide} would make about the pod if it were gated and not audited. */
export function decideIgnoringGate(facts: PlacementFacts): PlacementDecision {
  const { pod, settings, evidence, failedAttempts } = facts;
  if (evidence.kind === "decided") return evidence.decision;
  const { plan, judgement } = evidence;
  if (judgement.kind === "shared") return placeByImages(judgement, plan, facts);
  const { failed, outcomes: images } = judgement;
  const afterMs = nextAttemptAfterMs(failed, facts);
  if (afterMs === undefined) return giveUp({ pod, settings, plan }, { failed, attempt: failedAttempts + 1, images });
  return { kind: "retry", afterMs, failed, count: failingCount(pod, failedAttempts), preferences: plan.preferences };
}
