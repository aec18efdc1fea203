// Variants of architectures (arm/v6, amd64/v2 …): the lowest one of an image, and the node labels that stand for it.
import type { Platform } from "../../oci/inspection.ts";
import type { LabelRequirement } from "../../vocabulary/label_selector.ts";
import type { PlacementSettings, VariantLabel } from "./config/settings.ts";
import { requiredAddition } from "./patch/affinity.ts";
import type { ArchitectureRequirement, LowestVariants, SharedImages, VariantRequirement } from "./decision_types.ts";
import type { PodView } from "./pod/pod_view.ts";

/** The lowest variant of an image's platforms per architecture. A platform without variant runs on every node. */
export function lowestVariants(platforms: readonly Platform[]): LowestVariants {
  const least = new Map<string, number>();
  for (const { architecture, variant } of platforms) {
    least.set(architecture, Math.min(least.get(architecture) ?? Infinity, rankOf(variant)));
  }
  return new Map([...least].filter(([, rank]) => rank > 0).map(([architecture, rank]) => [architecture, `v${rank}`]));
}

/** What all images need: the highest of their lowest variants per architecture. */
export function joinVariants(all: readonly LowestVariants[]): LowestVariants {
  const joined = new Map<string, string>();
  for (const [architecture, variant] of all.flatMap((variants) => [...variants])) {
    if (rankOf(variant) > rankOf(joined.get(architecture))) joined.set(architecture, variant);
  }
  return joined;
}

/** The requirement for a pod's nodes: architectures, and the labels of their variants. */
export function requirementOf(
  pod: PodView,
  { variantLabels }: PlacementSettings,
  { architectures, variants: lowest }: Pick<SharedImages, "architectures" | "variants">,
): ArchitectureRequirement {
  const variants = architectures.flatMap((architecture): readonly VariantRequirement[] => {
    const variant = lowest.get(architecture);
    const label = variantLabels.find((one) => one.architecture === architecture && one.variant === variant);
    return label === undefined ? [] : [{ architecture, requirement: labelRequirement(label) }];
  });
  const all = { kind: "in", architectures, variants } as const;
  return variants.length === 0 || hasOpenTerms(pod, all) ? all : narrowToOneTerm(all);
}

/** Whether the pod has no required terms, or only those of an earlier call for the same requirement. */
function hasOpenTerms({ requiredTerms = [] }: PodView, requirement: ArchitectureRequirement): boolean {
  return requiredTerms.length === 0 ||
    JSON.stringify(requiredTerms) === JSON.stringify(requiredAddition(requirement).newTerms);
}

/** For existing terms, which are not split: keeps architectures without a label, else the first with its label. */
function narrowToOneTerm({ architectures, variants }: ArchitectureRequirement): ArchitectureRequirement {
  const plain = architectures.filter((architecture) => variants.every((one) => one.architecture !== architecture));
  if (plain.length > 0) return { kind: "in", architectures: plain, variants: [] };
  const first = variants.slice(0, 1);
  return { kind: "in", architectures: first.map(({ architecture }) => architecture), variants: first };
}

function labelRequirement({ key, values }: VariantLabel): LabelRequirement {
  return { key, operator: values.length === 0 ? "Exists" : "In", values };
}

/** `v7` → 7. A missing or unknown variant is 0: no requirement. */
function rankOf(variant: string | undefined): number {
  const [, digits] = /^v(\d{1,3})$/.exec(variant ?? "") ?? [];
  return digits === undefined ? 0 : Number(digits);
}
