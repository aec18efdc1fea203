// What events say of preferences: which were set and from which config, which were not because another config was
// first.
import type { PreferenceOutcome, PreferencePlan } from "../decision_types.ts";

/** A sentence on what was preferred, or why nothing was; undefined when there is nothing to say. */
export function preferenceText({ outcomes, wanted, userStated }: PreferencePlan): string | undefined {
  if (!wanted) return undefined;
  if (userStated) return "Set no preferences: the pod states its own preferred architectures.";
  const applied = outcomes.filter((outcome) => outcome.applied.length > 0);
  if (applied.length > 0) return `Set preferred architectures: ${applied.map(outcomeText).join("; ")}.`;
  return outcomes.some(isDuplicate) ? undefined : "Set no preferences: the configs name no architecture.";
}

/** A sentence on the configs of which nothing was taken, which have an event of their own; undefined when there is none. */
export function duplicatesText({ outcomes, userStated }: PreferencePlan): string | undefined {
  const duplicates = userStated ? [] : outcomes.filter(isDuplicate);
  if (duplicates.length === 0) return undefined;
  const sources = duplicates.map(({ source, skipped }) => `source: ${source}, architectures: ${skipped.join(", ")}`);
  return `Other configs or the pod state these preferences already: ${sources.join("; ")}.`;
}

function isDuplicate({ applied, skipped }: PreferenceOutcome): boolean {
  return applied.length === 0 && skipped.length > 0;
}

function outcomeText({ applied, source, skipped }: PreferenceOutcome): string {
  const others = skipped.length === 0 ? "" : `, skipped: ${skipped.join(", ")}`;
  return `${applied.join(", ")} (source: ${source}${others})`;
}
