// Instruction set levels (arm/v6, arm/v7, amd64/v2…v4): the least level each image needs per architecture, and the node
// labels that `--variant-labels` gives for it. Without such labels only the architecture counts. Source: peers idea I12.
import type { Platform } from "../oci/types.ts";
import type { LabelRequirement, Parsed, VariantLabel } from "./config_types.ts";
import type { VariantRequirement } from "./plan_types.ts";

/** Architecture → the level that every image of a pod needs there (`v3`); absent = any node of it will do. */
export type Levels = ReadonlyMap<string, string>;

/** The least level among an image's platforms per architecture; a platform without variant runs on every node. */
export function levelsOf(platforms: readonly Platform[]): Levels {
  const least = new Map<string, number>();
  for (const { architecture, variant } of platforms) {
    least.set(architecture, Math.min(least.get(architecture) ?? Infinity, rankOf(variant)));
  }
  return new Map([...least].filter(([, rank]) => rank > 0).map(([architecture, rank]) => [architecture, `v${rank}`]));
}

/** What all images together need: the highest of their levels per architecture. */
export function joinLevels(all: readonly Levels[]): Levels {
  const joined = new Map<string, string>();
  for (const [architecture, level] of all.flatMap((levels) => [...levels])) {
    if (rankOf(level) > rankOf(joined.get(architecture))) joined.set(architecture, level);
  }
  return joined;
}

/** The node labels that the decided architectures additionally need. */
export function variantRequirements(
  architectures: readonly string[],
  { levels, labels }: { readonly levels: Levels; readonly labels: readonly VariantLabel[] },
): readonly VariantRequirement[] {
  return architectures.flatMap((architecture) => {
    const variant = levels.get(architecture);
    const label = labels.find((one) => one.architecture === architecture && one.variant === variant);
    return label === undefined ? [] : [{ architecture, requirement: requirementOf(label) }];
  });
}

/** Parses one value of `--variant-labels`: `amd64/v3=KEY` (the label exists) or `amd64/v3=KEY=VALUE[|VALUE…]`. */
export function parseVariantLabel(text: string): Parsed<VariantLabel> {
  const [, architecture, variant, key, values] = /^([a-z0-9]+)\/(v\d+)=([^=]+)(?:=(.+))?$/.exec(text) ?? [];
  if (architecture === undefined || variant === undefined || key === undefined) {
    return { kind: "invalid", message: `Cannot read variant label "${text}": it is not ARCH/vN=KEY[=VALUE[|VALUE…]].` };
  }
  return { kind: "ok", value: { architecture, variant, key, values: values?.split("|") ?? [] } };
}

function requirementOf({ key, values }: VariantLabel): LabelRequirement {
  return { key, operator: values.length === 0 ? "Exists" : "In", values };
}

/** `v7` → 7. No variant, and one that is not a level, is 0: nothing further is needed. */
function rankOf(variant: string | undefined): number {
  const [, digits] = /^v(\d{1,3})$/.exec(variant ?? "") ?? [];
  return digits === undefined ? 0 : Number(digits);
}
