// Tolerations for taints that separate architectures (GKE, ACK, archaware, …), for exactly those decided.
import type { ArchTaint, Toleration, TolerationPlan } from "../../../vocabulary/taint.ts";
import { KNOWN_ARCHITECTURES } from "../../../arch.ts";
import type { PodView } from "../types.ts";

/** For the shared architectures, or all. A pod that tolerates only some architectures was given these on purpose. */
export function planUndecidedTolerations(
  pod: PodView,
  taints: readonly ArchTaint[],
  shared: readonly string[] = KNOWN_ARCHITECTURES,
): readonly TolerationPlan[] {
  return taints.flatMap((taint) => {
    const isChosen = planTolerations(pod, KNOWN_ARCHITECTURES, [taint]).length < KNOWN_ARCHITECTURES.length;
    return isChosen ? [] : planTolerations(pod, shared, [taint]);
  });
}

/** The tolerations that a pod lacks for these architectures. One that it has, a blanket one included, is not repeated. */
export function planTolerations(
  pod: PodView,
  wanted: readonly string[],
  taints: readonly ArchTaint[],
): readonly TolerationPlan[] {
  if (taints.length === 0) return [];
  const tolerated = new Set((pod.tolerations ?? []).map(coverageOf));
  const plans: TolerationPlan[] = [];
  for (const { key, effect } of taints) {
    for (const value of wanted) {
      const plan: TolerationPlan = { key, operator: "Equal", value, effect };
      if (coveragesOf(plan).some((coverage) => tolerated.has(coverage))) continue;
      tolerated.add(coverageOf(plan));
      plans.push(plan);
    }
  }
  return plans;
}

/** What a toleration covers, as one text: tenants decide how many are compared. An empty effect stands for every effect. */
function coverageOf({ key, operator, value, effect }: Omit<Toleration, "isTemporary">): string {
  return JSON.stringify(operator === "Exists" ? [key, effect] : [key, effect, value]);
}

/** All coverages that include a taint: every key or its own, every effect or its own, every value or its own. */
function coveragesOf({ key, value, effect }: TolerationPlan): readonly string[] {
  return ["", effect].flatMap((one) => [["", one], [key, one], [key, one, value]]).map((all) => JSON.stringify(all));
}
