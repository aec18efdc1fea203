// The decision about a gated pod, made from its plan and from what the inspections of its images came to.
import type { IgnoreReason, PlacementDecision } from "./decision_types.ts";
import { failingCount, nextAttemptAfterMs } from "./failures.ts";
import { isGated } from "./pod/constraints.ts";
import { giveUp, placeByImages } from "./place.ts";
import type { PlacementFacts } from "./types.ts";

/** Why nothing is decided about a stored pod, whatever its images are; the first that holds. */
const LEFT_ALONE: readonly { readonly reason: IgnoreReason; readonly holds: (facts: PlacementFacts) => boolean }[] = [
  { reason: "NotGated", holds: ({ pod }) => !isGated(pod) },
  { reason: "Deleting", holds: ({ pod }) => pod.isDeleting },
  { reason: "AuditMode", holds: ({ settings }) => settings.audit },
];

/** Decides about a pod that the API server has stored. Deciding twice from the same facts gives the same. */
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
