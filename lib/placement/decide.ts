// The decision about a gated pod, made from its plan and from what the inspections of its images came to.
import type { FailedJudgement, IgnoreReason, PlacementDecision } from "./decision_types.ts";
import { failingCount, nextAttemptAfterMs } from "./failures.ts";
import { giveUp } from "./give_up.ts";
import { isGated } from "./patch/constraints.ts";
import { placeByImages } from "./place.ts";
import type { PlacementFacts, PodPlan } from "./types.ts";

/** Why nothing is decided about a stored pod, whatever its images are; the first that holds. */
const LEFT_ALONE: readonly { readonly reason: IgnoreReason; readonly holds: (facts: PlacementFacts) => boolean }[] = [
  { reason: "NotGated", holds: ({ pod }) => !isGated(pod) },
  { reason: "Deleting", holds: ({ pod }) => pod.deleting },
  { reason: "AuditMode", holds: ({ settings }) => settings.audit },
];

/** Decides about a pod that the API server has stored. Deciding twice from the same facts gives the same. */
export function decide(facts: PlacementFacts): PlacementDecision {
  const found = LEFT_ALONE.find(({ holds }) => holds(facts));
  return found === undefined ? decideIgnoringGate(facts) : { kind: "ignore", reason: found.reason };
}

/** The decision that {@link decide} would make about the pod if it were gated and not audited. */
export function decideIgnoringGate(facts: PlacementFacts): PlacementDecision {
  const { pod, settings, evidence, liveArchitectures } = facts;
  if (evidence.kind === "decided") return evidence.decision;
  const { plan, judgement } = evidence;
  if (judgement.kind === "failed") return decideFailed(judgement, { facts, plan });
  return placeByImages(judgement, { pod, settings, plan, liveArchitectures });
}

function decideFailed(
  { failed, outcomes }: FailedJudgement,
  { facts, plan }: { readonly facts: PlacementFacts; readonly plan: PodPlan },
): PlacementDecision {
  const { pod, settings, failedAttempts } = facts;
  const { maxGateAgeMs } = settings;
  const afterMs = nextAttemptAfterMs({ ...facts, failed, maxGateAgeMs });
  const attempt = failedAttempts + 1;
  if (afterMs === undefined) return giveUp({ pod, settings, plan, failed, attempt, images: outcomes });
  const count = failingCount(pod, failedAttempts);
  return { kind: "retry", afterMs, failed, attempt, count, preferences: plan.preferences };
}
