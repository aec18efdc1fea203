// Decision → the pod's events. The reasons are the MTO's, because automation keys on them.
import { EventReason, PodLabel, SCHEDULING_GATE } from "../../../names.ts";
import { assertNever } from "../../../parsed.ts";
import type {
  ImageFailure,
  ImageOutcome,
  PlaceDecision,
  PlacementDecision,
  PreferenceOutcome,
  Preferences,
} from "../decision_types.ts";
import { adviceFor } from "../failure_advice.ts";
import { clip } from "../failures.ts";
import type { ReleaseStep } from "../patch/escalation.ts";
import { assignSlots, normal, type PodEvent, type SlottedEvent, warning } from "./event_slots.ts";
import type { PodView } from "../pod/pod_view.ts";

/** The longest failure message, which leaves room for advice. */
const MAX_FAILURE_LENGTH = 384;

const RECREATE = "Recreate the pod to have it placed by its images.";

/** Whether the server accepted all of a decision, a part, or nothing. */
export type PodOutcome =
  | { readonly kind: "applied"; readonly decision: PlacementDecision }
  | {
    readonly kind: "reduced";
    readonly step: Exclude<ReleaseStep, "full">;
    readonly decision: PlacementDecision;
    readonly why: string;
  }
  | { readonly kind: "refused"; readonly why: string };

const REDUCED: Readonly<Record<Exclude<ReleaseStep, "full">, string>> = {
  bare: "The API server refused the node affinity, so the pod was released without it",
  gate: "The API server refused everything but the removal of the gate, so the pod was released without node affinity",
};

export function gateAddedEvent(): SlottedEvent {
  const said =
    `Held by the scheduling gate ${SCHEDULING_GATE} until it is known which architectures its images support.`;
  return { ...normal(EventReason.gateAdded, said), slot: 1, isShortLived: true };
}

/** At most three events of an outcome, most important first. Post them after the write, when they are true. */
export function podEventsOf(pod: PodView, outcome: PodOutcome): readonly SlottedEvent[] {
  const hasFailedBefore = pod.labels?.[PodLabel.inspectErrorCount] !== undefined;
  return assignSlots(outcomeEvents(pod, outcome), { hasFailedBefore });
}

function outcomeEvents(pod: PodView, outcome: PodOutcome): readonly PodEvent[] {
  switch (outcome.kind) {
    case "applied":
      return appliedEvents(pod, outcome.decision);
    case "reduced":
      return [
        warning(EventReason.gateRemovalFailed, `${REDUCED[outcome.step]}: ${outcome.why}`),
        gateRemovedEvent(pod),
      ];
    case "refused":
      return [warning(EventReason.gateRemovalFailed, `Cannot remove the gate ${SCHEDULING_GATE}: ${outcome.why}`)];
    default:
      return assertNever(outcome);
  }
}

function appliedEvents(pod: PodView, decision: PlacementDecision): readonly PodEvent[] {
  switch (decision.kind) {
    case "ignore":
      return ignoredEvents(pod, decision.reason);
    case "place":
      return [...placedEvents(decision), gateRemovedEvent(pod), ...duplicatesEvents(decision.preferences)];
    case "nowhere":
      return [
        nowhereEvent(decision.images),
        normal(EventReason.predicateSet, "Set the supported architectures to {}: no node can run the pod."),
        gateRemovedEvent(pod),
      ];
    case "retry":
      return [failedEvent(pod, decision.failed, "The pod stays held; the next attempt follows by itself.")];
    case "fallback":
      return [
        failedEvent(pod, decision.failed, `${gaveUpText(decision.attempt)}. ${RECREATE}`),
        fallbackEvent(decision),
        gateRemovedEvent(pod),
      ];
    case "release": {
      const gaveUp = `${gaveUpText(decision.attempt)}; released ${keptText(decision.kept)}.`;
      const done = sentences(gaveUp, RECREATE, othersText(decision.images));
      const { preferences } = decision;
      return [
        failedEvent(pod, decision.failed, done),
        ...preferenceEvents(preferences),
        gateRemovedEvent(pod),
        ...duplicatesEvents(preferences),
      ];
    }
    default:
      return assertNever(decision);
  }
}

function fallbackEvent(
  { architecture, preferences, images }: Extract<PlacementDecision, { kind: "fallback" }>,
): PodEvent {
  const said =
    `Fell back to {${architecture}}, the configured fallback architecture, because the images could not be ` +
    `inspected. Whether they run there is not known.`;
  return warning(EventReason.fallbackSet, sentences(said, preferenceText(preferences), othersText(images)));
}

function ignoredEvents(pod: PodView, reason: string): readonly PodEvent[] {
  if (reason === "NotGated" || reason === "Deleting") return [];
  const said = `The gated pod need not be placed by its architecture (${reason}); it was released unchanged.`;
  return [warning(EventReason.gatedPodIgnored, said), gateRemovedEvent(pod)];
}

function placedEvents(
  { required, images, isOutOfReach, findings, preferences }: PlaceDecision,
): readonly PodEvent[] {
  if (required.kind === "user-constrained") {
    const said = "The pod constrains the architecture itself; its constraint was kept.";
    return [normal(EventReason.predicatesConflict, said), ...preferenceEvents(preferences)];
  }
  const names = `{${required.architectures.join(", ")}}`;
  const said = sentences(
    `Set the supported architectures to ${names}.`,
    preferenceText(preferences),
    `Images: ${images.map(imageText).join("; ")}.`,
    findings.length === 0 ? undefined : `Note: ${findings.join("; ")}.`,
  );
  if (!isOutOfReach) return [normal(EventReason.predicateSet, said)];
  const lacking =
    `No node or pool of this cluster offers ${names}: add one, or build the images for those that it has.`;
  return [warning(EventReason.predicateSet, `${lacking} ${said}`)];
}

function nowhereEvent(images: readonly ImageOutcome[]): PodEvent {
  const said =
    "The images share no architecture, so no node can run the pod: build them for a common one, and recreate " +
    `the pod. Images: ${images.map(imageText).join("; ")}.`;
  return warning(EventReason.noSupportedArchitectures, said);
}

/** The event about preferences, if no other event names them. */
function preferenceEvents(preferences: Preferences): readonly PodEvent[] {
  const said = preferenceText(preferences);
  return said === undefined ? [] : [normal(EventReason.predicateSet, said)];
}

function duplicatesEvents(preferences: Preferences): readonly PodEvent[] {
  const said = duplicatesText(preferences);
  return said === undefined ? [] : [normal(EventReason.preferredDuplicates, said)];
}

function failedEvent(pod: PodView, { image, failure }: ImageFailure, done: string): PodEvent {
  const { registry } = failure;
  const where = registry === undefined ? "" : ` at ${registry}`;
  const said = `Cannot inspect image "${image}"${where} (${failure.kind}, ${failure.reason}): ${
    clip(failure.message, MAX_FAILURE_LENGTH)
  }`;
  const advice = adviceFor(failure.reason, { registry, pullSecrets: pod.imagePullSecrets });
  return warning(EventReason.inspectionError, sentences(said.replace(/\.?$/, "."), advice, done));
}

function gateRemovedEvent(pod: PodView): PodEvent {
  const others = (pod.gates ?? []).filter((gate) => gate !== SCHEDULING_GATE);
  const rest = others.length === 0 ? "" : ` Still held by ${others.join(", ")}.`;
  const said = `Removed the scheduling gate ${SCHEDULING_GATE}.${rest}`;
  return { ...normal(EventReason.gateRemoved, said), isShortLived: rest === "" };
}

/** A sentence about the preferences, or why there are none; undefined when irrelevant. */
function preferenceText({ outcomes, isWanted, isUserStated }: Preferences): string | undefined {
  if (!isWanted) return undefined;
  if (isUserStated) return "Set no preferences: the pod states its own preferred architectures.";
  const applied = outcomes.filter((outcome) => outcome.applied.length > 0);
  if (applied.length > 0) return `Set preferred architectures: ${applied.map(preferenceOutcomeText).join("; ")}.`;
  return outcomes.some(isDuplicate) ? undefined : "Set no preferences: the configs name no architecture.";
}

/** A sentence about configs that added no preference, for an event of its own; undefined if there are none. */
function duplicatesText({ outcomes, isUserStated }: Preferences): string | undefined {
  const duplicates = isUserStated ? [] : outcomes.filter(isDuplicate);
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

function imageText({ image, digest, architectures, source }: ImageOutcome): string {
  const at = digest === "" ? "" : ` (${digest.slice(0, 19)})`;
  const found = source === "bundle" ? "any architecture" : architectures.join(", ") || "none";
  return `${image}${at}: ${found}`;
}

function othersText(images: readonly ImageOutcome[]): string | undefined {
  const others = images.filter(({ source }) => source !== "failed");
  return others.length === 0 ? undefined : `Other images: ${others.map(imageText).join("; ")}.`;
}

function gaveUpText(attempts: number): string {
  if (attempts === 0) return "No image was inspected";
  return `Gave up after ${attempts === 1 ? "1 attempt" : `${attempts} attempts`}`;
}

function keptText(kept: readonly string[] | undefined): string {
  if (kept === undefined) return "without an architecture constraint";
  return `with the requirement that an earlier decision set: {${kept.join(", ")}}`;
}

function sentences(...all: readonly (string | undefined)[]): string {
  return all.filter((one) => one !== undefined).join(" ");
}
