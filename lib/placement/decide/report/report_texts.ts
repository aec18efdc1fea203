// The parts of event messages: what was preferred and from which config, which images were judged, what was given up.
import type { ImageOutcome, PreferenceOutcome, PreferencePlan } from "../decision_types.ts";

/** A sentence on what was preferred, or why nothing was; undefined when there is nothing to say. */
export function preferenceText({ outcomes, wanted, userStated }: PreferencePlan): string | undefined {
  if (!wanted) return undefined;
  if (userStated) return "Set no preferences: the pod states its own preferred architectures.";
  const applied = outcomes.filter((outcome) => outcome.applied.length > 0);
  if (applied.length > 0) return `Set preferred architectures: ${applied.map(preferenceOutcomeText).join("; ")}.`;
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

function preferenceOutcomeText({ applied, source, skipped }: PreferenceOutcome): string {
  const others = skipped.length === 0 ? "" : `, skipped: ${skipped.join(", ")}`;
  return `${applied.join(", ")} (source: ${source}${others})`;
}

/** An image of the decision: its digest, shortened, and its architectures. */
export function imageText({ image, digest, architectures, source }: ImageOutcome): string {
  const at = digest === "" ? "" : ` (${digest.slice(0, 19)})`;
  const found = source === "bundle" ? "any architecture" : architectures.join(", ") || "none";
  return `${image}${at}: ${found}`;
}

/** The images that were inspected, where another one that failed decided. */
export function othersText(images: readonly ImageOutcome[]): string | undefined {
  const others = images.filter(({ source }) => source !== "failed");
  return others.length === 0 ? undefined : `Other images: ${others.map(imageText).join("; ")}.`;
}

/** That inspection was given up, and after how many attempts. */
export function gaveUpText(attempts: number): string {
  if (attempts === 0) return "No image was inspected";
  return `Gave up after ${attempts === 1 ? "1 attempt" : `${attempts} attempts`}`;
}

/** What of an earlier decision still constrains a pod that is released. */
export function keptText(kept: readonly string[] | undefined): string {
  if (kept === undefined) return "without an architecture constraint";
  return `with the requirement that an earlier decision set: {${kept.join(", ")}}`;
}

/** The given sentences as one text; those that are undefined are left out. */
export function sentences(...all: readonly (string | undefined)[]): string {
  return all.filter((one) => one !== undefined).join(" ");
}
