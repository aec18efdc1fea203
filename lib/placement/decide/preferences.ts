// The nodeAffinityScoring plugin: a pod's preferred terms, and the annotation that names the configs they come from.
import { PodAnnotation } from "../../names.ts";
import { preferredArchitectures, prefersArchitecture } from "./pod/constraints.ts";
import { splitPreferredTerms } from "./pod/archways_terms.ts";
import type { PreferenceOutcome, Preferences, PreferredTerm } from "./decision_types.ts";
import { entryOf } from "../../json.ts";
import type { ScoringSource } from "./config/selection.ts";
import type { PodView } from "./pod/pod_view.ts";

/** Our terms. `none`: none is ours; `recorded`: the annotation lists them; `reinvocation`: it is also rewritten. */
export type ArchwaysTerms = "none" | "recorded" | "reinvocation";

const NO_PREFERENCES: Preferences = {
  terms: [],
  sources: undefined,
  outcomes: [],
  isWanted: false,
  isUserStated: false,
  isPresent: false,
};

/** A user's own preference overrides every config; the first config to name an architecture wins. */
export function planPreferences(
  pod: PodView,
  sources: readonly ScoringSource[],
  archwaysTerms: ArchwaysTerms,
): Preferences {
  if (sources.length === 0) return NO_PREFERENCES;
  const { own, users } = archwaysTerms === "none"
    ? { own: [], users: pod.preferredTerms ?? [] }
    : splitPreferredTerms(pod);
  const isUserStated = users.some(prefersArchitecture);
  const seen = new Set(preferredArchitectures(users));
  const present = new Set(own.map(({ architecture }) => architecture));
  const terms: PreferredTerm[] = [];
  const outcomes: PreferenceOutcome[] = [];
  const entries = recordedSources(pod, archwaysTerms);
  for (const { source, scoring } of sources) {
    const applied: string[] = [];
    const skipped: string[] = [];
    for (const { architecture, weight } of scoring.platforms) {
      const wins = !isUserStated && !seen.has(architecture);
      (wins ? applied : skipped).push(architecture);
      entries.add(`${architecture}:${weight}:${source}${wins ? "" : ":skipped"}`);
      if (wins) terms.push({ weight, architecture });
      if (wins) seen.add(architecture);
    }
    outcomes.push({ source, applied, skipped });
  }
  return {
    terms: terms.filter(({ architecture }) => !present.has(architecture)),
    sources: entries.size === 0 ? undefined : [...entries].join(","),
    outcomes,
    isWanted: true,
    isUserStated,
    isPresent: terms.length > 0 || own.length > 0,
  };
}

function recordedSources(pod: PodView, archwaysTerms: ArchwaysTerms): Set<string> {
  const recorded = archwaysTerms === "recorded" ? entryOf(pod.annotations, PodAnnotation.preferredSources) : undefined;
  return new Set(recorded === undefined || recorded === "" ? [] : recorded.split(","));
}
