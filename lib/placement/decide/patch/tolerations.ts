// Tolerations of architecture taints (GKE, ACK, archaware, …): for the decided architectures, or for undecided pods.
import type { AddedToleration, ArchTaint, Toleration } from "../../../vocabulary/taint.ts";
import { KNOWN_ARCHITECTURES } from "../../../arch.ts";
import type { PodView } from "../pod/pod_view.ts";

/** For the shared architectures, or all. If a pod tolerates some already, that is on purpose and nothing is added. */
export function planUndecidedTolerations(
  pod: PodView,
  taints: readonly ArchTaint[],
  shared: readonly string[] = KNOWN_ARCHITECTURES,
): readonly AddedToleration[] {
  return taints.flatMap((taint) => {
    const isChosen = planTolerations(pod, KNOWN_ARCHITECTURES, [taint]).length < KNOWN_ARCHITECTURES.length;
    return isChosen ? [] : planTolerations(pod, shared, [taint]);
  });
}

/** The tolerations that a pod lacks for these architectures. Existing ones, even blanket ones, are not repeated. */
export function planTolerations(
  pod: PodView,
  wanted: readonly string[],
  taints: readonly ArchTaint[],
): readonly AddedToleration[] {
  if (taints.length === 0) return [];
  const tolerated = new Set((pod.tolerations ?? []).map(coverageOf));
  const added: AddedToleration[] = [];
  for (const { key, effect } of taints) {
    for (const value of wanted) {
      const toleration: AddedToleration = { key, operator: "Equal", value, effect };
      if (coveragesOf(toleration).some((coverage) => tolerated.has(coverage))) continue;
      tolerated.add(coverageOf(toleration));
      added.push(toleration);
    }
  }
  return added;
}

/** A toleration's coverage as a text, to look it up: tenants may list many. An empty effect means every effect. */
function coverageOf({ key, operator, value, effect }: Omit<Toleration, "isTemporary">): string {
  return JSON.stringify(operator === "Exists" ? [key, effect] : [key, effect, value]);
}

/** All coverages that include a taint: every key or its own, every effect or its own, every value or its own. */
function coveragesOf({ key, value, effect }: AddedToleration): readonly string[] {
  return ["", effect].flatMap((one) => [["", one], [key, one], [key, one, value]]).map((all) => JSON.stringify(all));
}
