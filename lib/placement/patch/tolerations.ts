// Tolerations for taints by which a cluster separates architectures (GKE, ACK, archaware, …), added together with the
// affinity and for exactly the architectures decided.
import { KNOWN_ARCHITECTURES } from "../../arch.ts";
import { asParsed, type Parsed, unparsable } from "../../parsed.ts";
import type { ArchTaint } from "../config_types.ts";
import type { TolerationPlan } from "../decision_types.ts";
import type { PodView, TolerationView } from "../types.ts";

/** The taints that `--tolerate-arch-taints` has names for. */
const TAINT_PRESETS: Readonly<Record<string, ArchTaint>> = {
  gke: { key: "kubernetes.io/arch", effect: "NoSchedule", architectures: undefined },
  ack: { key: "kubernetes.io/arch", effect: "NoSchedule", architectures: undefined },
  archaware: { key: "supported-arch", effect: "NoSchedule", architectures: undefined },
};

const KEY = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const EFFECTS = ["NoSchedule", "NoExecute", "PreferNoSchedule"] as const;

/** Parses one value of `--tolerate-arch-taints`: a preset, or `KEY=arch` with an optional `:EFFECT`. */
export function parseArchTaint(text: string): Parsed<ArchTaint> {
  const preset = Object.hasOwn(TAINT_PRESETS, text) ? TAINT_PRESETS[text] : undefined;
  if (preset !== undefined) return asParsed(preset);
  const [, key, name] = /^([^=]+)=arch(?::(\w+))?$/.exec(text) ?? [];
  const effect = EFFECTS.find((known) => known === (name ?? "NoSchedule"));
  if (key === undefined || !KEY.test(key) || effect === undefined) {
    const presets = Object.keys(TAINT_PRESETS).join(", ");
    return unparsable(`Cannot read arch taint "${text}": it is neither ${presets} nor KEY=arch[:EFFECT].`);
  }
  return asParsed({ key, effect, architectures: undefined });
}

/** The key that clouds taint nodes with by themselves. */
const CLOUD_KEY = "kubernetes.io/arch";

/** The taint of `--arch-taints=manage`. */
export interface ManagedTaint {
  readonly taint: ArchTaint;
  /** `cloud`: it is put on nodes by the cloud (GKE, ACK), never by Archway; pods tolerate it. */
  readonly owner: "archway" | "cloud";
}

/** Parses the setting `archTaint`, in the form of `--tolerate-arch-taints`. */
export function parseManagedTaint(text: string): Parsed<ManagedTaint> {
  const parsed = parseArchTaint(text);
  if (parsed.kind === "unparsable") return parsed;
  return asParsed({ taint: parsed.value, owner: parsed.value.key === CLOUD_KEY ? "cloud" : "archway" });
}

/**
 * The tolerations of a pod about whose architectures nothing is decided: for all that are known, as it could run on each
 * before there were taints. One that tolerates some of them by their values has been given these on purpose.
 */
export function planUndecidedTolerations(pod: PodView, taints: readonly ArchTaint[]): readonly TolerationPlan[] {
  return taints.flatMap((taint) => {
    const missing = planTolerations(pod, { architectures: KNOWN_ARCHITECTURES, taints: [taint] });
    return missing.length === KNOWN_ARCHITECTURES.length ? missing : [];
  });
}

/** The tolerations that a pod lacks for these architectures. One that it has, a blanket one included, is not repeated. */
export function planTolerations(
  pod: PodView,
  wanted: { readonly architectures: readonly string[]; readonly taints: readonly ArchTaint[] },
): readonly TolerationPlan[] {
  if (wanted.taints.length === 0) return [];
  const tolerated = new Set((pod.tolerations ?? []).map(coverageOf));
  const plans: TolerationPlan[] = [];
  for (const { key, effect, architectures } of wanted.taints) {
    for (const value of wanted.architectures) {
      if (architectures !== undefined && !architectures.includes(value)) continue;
      const plan: TolerationPlan = { key, operator: "Equal", value, effect };
      if (coveragesOf(plan).some((coverage) => tolerated.has(coverage))) continue;
      tolerated.add(coverageOf(plan));
      plans.push(plan);
    }
  }
  return plans;
}

/** What a toleration covers, as one text; an empty effect stands for every effect, as in the scheduler's rules. */
function coverageOf({ key, operator, value, effect }: TolerationView): string {
  return JSON.stringify(operator === "Exists" ? [key, effect] : [key, effect, value]);
}

/** All coverages that include a taint: every key or its own, every effect or its own, every value or its own. */
function coveragesOf({ key, value, effect }: TolerationPlan): readonly string[] {
  return ["", effect].flatMap((one) => [["", one], [key, one], [key, one, value]]).map((all) => JSON.stringify(all));
}
