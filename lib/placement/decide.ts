// Facts of a gated pod → what is to become of it. Called by the pod controller; the audit and the playground use it too.
// Source: §2.3, design §5.
import type { PlacementConfigs, PlacementSettings } from "./config_types.ts";
import { hasRequiredArchitecture, isGated } from "./patch/constraints.ts";
import { isConstrainedByUs } from "./patch/own_terms.ts";
import type { PlacementDecision } from "./decision_types.ts";
import { failingCount, nextAttemptAfterMs } from "./failures.ts";
import { ignoreReason } from "./ignore.ts";
import { type ImageJudgement, judgeImages } from "./images.ts";
import { placeByImages, placePreset, planFor } from "./place.ts";
import { fallbackArchitecture, scoringWanted, selectConfigs, type SelectedConfigs } from "./config/selection.ts";
import { planTolerations } from "./patch/tolerations.ts";
import type { PlacementFacts, PodView } from "./types.ts";

/** Decides about a pod that the API server has stored. Deciding twice from the same facts gives the same. */
export function decide(facts: PlacementFacts): PlacementDecision {
  if (!isGated(facts.pod)) return { kind: "ignore", reason: "NotGated" };
  if (facts.pod.deleting) return { kind: "ignore", reason: "Deleting" };
  if (facts.settings.audit) return { kind: "ignore", reason: "AuditMode" };
  return decideIgnoringGate(facts);
}

/** What {@link decide} would say if the pod were gated and nothing but a rule kept Archway from acting (audit mode). */
export function decideIgnoringGate(facts: PlacementFacts): PlacementDecision {
  const { pod, settings } = facts;
  const selected = selectConfigs(pod, facts.configs);
  const constrainedByUs = isConstrainedByUs(pod);
  const reason = ignoreReason({ pod, settings, scoring: scoringWanted(selected), constrainedByUs });
  if (reason !== undefined) return { kind: "ignore", reason };
  const options = { pod, settings, selected, ownTerms: "audited", liveArchitectures: facts.liveArchitectures } as const;
  if (hasRequiredArchitecture(pod) && !constrainedByUs) return placePreset(options);
  const judgement = judgeImages(facts);
  return judgement.kind === "shared" ? placeByImages(judgement, options) : decideFailed(judgement, { facts, selected });
}

/** Whether deciding needs to know the pod's images: no rule ignores the pod and its architecture is open. */
export function needsInspection(pod: PodView, configs: PlacementConfigs, settings: PlacementSettings): boolean {
  const scoring = scoringWanted(selectConfigs(pod, configs));
  const constrainedByUs = isConstrainedByUs(pod);
  if (ignoreReason({ pod, settings, scoring, constrainedByUs }) !== undefined) return false;
  return constrainedByUs || !hasRequiredArchitecture(pod);
}

interface FailedFacts {
  readonly facts: PlacementFacts;
  readonly selected: SelectedConfigs;
}

function decideFailed(
  { failed, outcomes }: Extract<ImageJudgement, { kind: "failed" }>,
  { facts, selected }: FailedFacts,
): PlacementDecision {
  const { pod, settings, failedAttempts, gateAgeMs, jitter } = facts;
  const { maxGateAgeMs } = settings;
  const afterMs = nextAttemptAfterMs({ failed, failedAttempts, gateAgeMs, maxGateAgeMs, jitter });
  const attempt = failedAttempts + 1;
  const options = { pod, settings, selected, ownTerms: "audited" } as const;
  if (afterMs !== undefined) {
    // What the images support is not known yet, so useless preferences cannot be told from useful ones.
    const preferences = planFor(options, settings.dropUselessPreferences ? [] : undefined);
    const count = failingCount(pod, failedAttempts);
    return { kind: "retry", afterMs, failed, attempt, count, preferences };
  }
  const architecture = fallbackArchitecture(selected);
  if (architecture === undefined) {
    return { kind: "release", failed, attempt, images: outcomes, preferences: planFor(options, undefined) };
  }
  const tolerations = planTolerations(pod, { architectures: [architecture], taints: settings.archTaints });
  const preferences = planFor(options, [architecture]);
  return { kind: "fallback", architecture, failed, attempt, images: outcomes, preferences, tolerations };
}
