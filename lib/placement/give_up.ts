// The decision about a pod whose images cannot all be inspected: the fallback architecture where a config names one, else
// no requirement. A requirement that Archway itself wrote on the pod before is narrowed at most: a second one beside it
// that contradicts it would keep the pod from every node.
import type { PlacementSettings } from "./config/types.ts";
import type { FallbackDecision, ImageFailure, ImageOutcome, ReleaseDecision } from "./decision_types.ts";
import { planTolerations, planUndecidedTolerations } from "./patch/tolerations.ts";
import type { PodPlan, PodView } from "./types.ts";

/** What is given up, and after how much. */
export interface GivenUp {
  readonly pod: PodView;
  readonly settings: PlacementSettings;
  readonly plan: PodPlan;
  readonly failed: ImageFailure;
  /** Rounds of inspections; 0 when none was made. */
  readonly attempt: number;
  readonly images: readonly ImageOutcome[];
}

/** Falls back, or releases the pod without a requirement of this decision. */
export function giveUp({ pod, settings, plan, failed, attempt, images }: GivenUp): FallbackDecision | ReleaseDecision {
  const { fallback: architecture, preferences, own } = plan;
  const kept = own?.record.architectures;
  if (architecture === undefined || kept !== undefined && !kept.includes(architecture)) {
    const tolerations = kept === undefined
      ? planUndecidedTolerations(pod, settings.ownTaints)
      : planTolerations(pod, { architectures: kept, taints: settings.archTaints });
    return { kind: "release", failed, attempt, images, preferences, kept, tolerations };
  }
  const tolerations = planTolerations(pod, { architectures: [architecture], taints: settings.archTaints });
  return { kind: "fallback", architecture, failed, attempt, images, preferences, tolerations };
}
