// Architectures that the images share → the decision to place: what is required, preferred and tolerated. Shared by the
// controller's decision and by warm admission, so that both place a pod alike. Source: §2.5, §2.7.
import { intersectArchitectures } from "../arch.ts";
import { requiredAddition } from "./patch/affinity.ts";
import type { PlacementSettings } from "./config_types.ts";
import { ownRequirement } from "./patch/own_terms.ts";
import type { NowhereDecision, PlaceDecision } from "./decision_types.ts";
import type { ImageJudgement } from "./images.ts";
import type { PreferencePlan, RequiredPlan, VariantRequirement } from "./plan_types.ts";
import { type OwnTerms, planPreferences } from "./config/preferences.ts";
import { scoringSources, type SelectedConfigs } from "./config/selection.ts";
import { planTolerations } from "./patch/tolerations.ts";
import type { PodView } from "./types.ts";
import { variantRequirements } from "./variants.ts";

/** What a placement is made from beside the images. */
export interface PlaceOptions {
  readonly pod: PodView;
  readonly settings: PlacementSettings;
  readonly selected: SelectedConfigs;
  readonly ownTerms: OwnTerms;
  readonly liveArchitectures?: readonly string[] | undefined;
}

/** The pod's images are known: it may run where all of them do, or nowhere. */
export function placeByImages(
  judgement: Extract<ImageJudgement, { kind: "shared" }>,
  options: PlaceOptions,
): PlaceDecision | NowhereDecision {
  const { pod, settings, liveArchitectures: live } = options;
  const { outcomes: images } = judgement;
  const shared = withinOwn(pod, judgement.architectures);
  if (shared.length === 0) return { kind: "nowhere", images, preferences: planFor(options, []) };
  const offered = live === undefined ? shared : shared.filter((architecture) => live.includes(architecture));
  const noMatchingNodes = offered.length === 0;
  const wanted = noMatchingNodes ? shared : offered;
  const needs = variantRequirements(wanted, { levels: judgement.levels, labels: settings.variantLabels });
  const inParts = { architectures: wanted, variants: needs };
  const { architectures, variants } = isOpen(pod, inParts) ? inParts : oneTerm(wanted, needs);
  return {
    kind: "place",
    required: { kind: "in", architectures, variants },
    images,
    preferences: planFor(options, architectures),
    tolerations: planTolerations(pod, { architectures, taints: settings.archTaints }),
    noMatchingNodes,
    findings: judgement.findings,
  };
}

/** A requirement of ours that stands on the pod is only ever narrowed, even when the images meanwhile support more. */
function withinOwn(pod: PodView, architectures: readonly string[]): readonly string[] {
  const own = ownRequirement(pod);
  return own === undefined ? architectures : intersectArchitectures([architectures, own.record.architectures]);
}

type Parts = Pick<Extract<RequiredPlan, { kind: "in" }>, "architectures" | "variants">;

/** Whether the pod has no required terms yet, or just those that an earlier call made of the same plan. */
function isOpen({ requiredTerms = [] }: PodView, plan: Parts): boolean {
  const { newTerms } = requiredAddition({ kind: "in", ...plan });
  return requiredTerms.length === 0 || JSON.stringify(requiredTerms) === JSON.stringify(newTerms);
}

/**
 * What one term can say of architectures of which some need a node label besides. Terms that stand on a pod cannot be
 * split per architecture (their number is fixed): those without such a need stay, else the first one with its label.
 */
function oneTerm(architectures: readonly string[], variants: readonly VariantRequirement[]): Parts {
  const plain = architectures.filter((architecture) => variants.every((one) => one.architecture !== architecture));
  if (plain.length > 0) return { architectures: plain, variants: [] };
  const first = variants.slice(0, 1);
  return { architectures: first.map(({ architecture }) => architecture), variants: first };
}

/** The user has constrained the architecture (rule R): only preferences are added. */
export function placePreset(options: PlaceOptions): PlaceDecision {
  const preferences = planFor(options, undefined);
  const nothing = { images: [], tolerations: [], findings: [], noMatchingNodes: false } as const;
  return { kind: "place", required: { kind: "preset" }, preferences, ...nothing };
}

/** The preferences of a pod whose images support the given architectures (undefined = nobody knows). */
export function planFor(options: PlaceOptions, supported: readonly string[] | undefined): PreferencePlan {
  const { pod, settings, selected, ownTerms } = options;
  const only = settings.dropUselessPreferences ? supported : undefined;
  return planPreferences(pod, { sources: scoringSources(selected), only, ownTerms });
}
