// Pod → lines that say, to a person, where it stands and why: from its gate, labels, annotations and decision record.
// Called by `archway explain` and the dashboard. Trusts the marks: they are read from a stored pod.
import { GateLabel, PodAnnotation, PodLabel, SCHEDULING_GATE } from "../names.ts";
import { isGated } from "./constraints.ts";
import { entryOf } from "./raw.ts";
import { parseRecord } from "./record.ts";
import { unreachable } from "../unreachable.ts";
import type { DecisionRecord, ImageOutcome, PodView } from "./types.ts";

/** The explanation, one sentence or image a line. */
export function explainPod(pod: PodView): readonly string[] {
  const record = parseRecord(entryOf(pod.annotations, PodAnnotation.decision));
  return [
    standing(pod),
    ...(record === undefined ? [] : [outcome(record), ...record.images.map(imageLine), ...omittedLine(record)]),
    ...failureLines(pod),
    ...preferenceLines(pod),
  ];
}

function standing(pod: PodView): string {
  const others = (pod.gates ?? []).filter((gate) => gate !== SCHEDULING_GATE);
  if (isGated(pod)) return "Waiting: Archway holds the pod until its images are inspected.";
  if (others.length > 0) return `Released by Archway; still held by ${others.join(", ")}.`;
  const label = entryOf(pod.labels, PodLabel.gate);
  if (label === GateLabel.removed) {
    return pod.nodeName === "" ? "Released: the scheduler decides." : `Runs on ${pod.nodeName}.`;
  }
  if (label === GateLabel.notSet) {
    return "Left alone: a rule exempts the pod, or it constrains the architecture itself.";
  }
  return "Unknown to Archway: it was created while the webhook was away, or its namespace is not selected.";
}

function outcome({ decision, architectures }: DecisionRecord): string {
  const names = `{${architectures.join(", ")}}`;
  switch (decision) {
    case "place":
      return `Its images share ${names}; it may run only there.`;
    case "preset":
      return "It constrains the architecture itself; only preferences were added.";
    case "nowhere":
      return "Its images share no architecture; no node can run it.";
    case "fallback":
      return `Its images could not be inspected; it fell back to ${names}.`;
    case "release":
      return "Its images could not be inspected; it was released unconstrained.";
    default:
      return unreachable(decision);
  }
}

function imageLine({ image, digest, architectures, source }: ImageOutcome): string {
  const what = source === "failed" ? "could not be inspected" : architectures.join(", ") || "no usable platform";
  return `  ${image}${digest === "" ? "" : ` @ ${digest}`}: ${what} (${source})`;
}

function omittedLine({ omitted }: DecisionRecord): readonly string[] {
  return omitted === 0 ? [] : [`  and ${omitted} more that the record has no room for`];
}

function failureLines(pod: PodView): readonly string[] {
  const count = entryOf(pod.labels, PodLabel.inspectErrorCount);
  const text = entryOf(pod.annotations, PodAnnotation.inspectError);
  if (count === undefined) return [];
  const failing = entryOf(pod.labels, PodLabel.inspectError) !== undefined;
  const lead = failing ? `Inspection fails (count ${count})` : `Inspection failed before (count ${count})`;
  return [text === undefined ? `${lead}.` : `${lead}: ${text}`];
}

function preferenceLines(pod: PodView): readonly string[] {
  const audit = entryOf(pod.annotations, PodAnnotation.preferredSources);
  return audit === undefined || audit === "" ? [] : [`Preferences: ${audit.split(",").join(", ")}`];
}
