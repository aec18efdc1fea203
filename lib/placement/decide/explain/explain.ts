// Explains a pod's state in sentences. Trusts a stored pod's labels and annotations.
import { isKnownArchitecture } from "../../../arch.ts";
import { DEFAULT_SYSTEM_NAMESPACES, GateLabel, PodAnnotation, PodLabel, SCHEDULING_GATE } from "../../../names.ts";
import { hasRequiredArchitecture, isGated } from "../pod/constraints.ts";
import type { DecisionRecord } from "../decision_types.ts";
import { hasControlPlaneSelector, isSystemNamespace } from "../ignore.ts";
import { nextSteps } from "./next_step.ts";
import { entryOf } from "../../../json.ts";
import { renderDuration } from "../../../vocabulary/duration.ts";
import { assertNever } from "../../../parsed.ts";
import type { ExplainContext, ExplainFacts, Participation, PodExplanation, PodStage } from "./pod_explanation.ts";
import type { PodView } from "../pod/pod_view.ts";

export function explainPod(pod: PodView, context: ExplainContext): PodExplanation {
  const stage = stageOf(pod, context);
  const why = [
    ...context.execFormatErrors ?? [],
    ...context.mismatches ?? [],
    ...whyOf(pod, { stage, context }),
    ...failureLines(pod),
    ...preferenceLines(pod),
    ...gatingLines(pod, context),
    ...failingLines(context),
    ...(context.schedulerSays === undefined ? [] : [`The scheduler says: ${context.schedulerSays}`]),
  ];
  return {
    stage,
    summary: summaryOf(pod, stage, context),
    why,
    next: nextSteps(pod, { stage, context }),
  };
}

function stageOf(pod: PodView, { schedulerSays, failing }: ExplainContext): PodStage {
  if (isGated(pod)) return "gated";
  if ((pod.gates ?? []).length > 0) return "held";
  if (pod.nodeName !== "") return failing === undefined ? "scheduled" : "failing";
  return schedulerSays === undefined ? "pending" : "unschedulable";
}

function summaryOf(pod: PodView, stage: PodStage, { ageMs, failing }: ExplainContext): string {
  const since = ageMs === undefined ? "" : ` for ${renderDuration(Math.max(0, ageMs))}`;
  switch (stage) {
    case "gated":
      return `Held by Archway's gate${since}, until its images are inspected.`;
    case "held":
      return `Not scheduled: still held by ${(pod.gates ?? []).join(", ")}, which is not Archway's.`;
    case "unschedulable":
      return "Pending: the scheduler finds no node for it.";
    case "pending":
      return "Pending: the scheduler has not placed it yet.";
    case "failing":
      return `On ${pod.nodeName}, and its container ${failing?.name} does not run: ${failing?.reason}.`;
    case "scheduled":
      return `${pod.phase === "Pending" || pod.phase === "" ? "Scheduled" : pod.phase} on ${pod.nodeName}.`;
    default:
      return assertNever(stage);
  }
}

function whyOf(pod: PodView, { stage, context }: ExplainFacts): readonly string[] {
  const { record } = pod;
  if (stage === "gated") return [];
  if (record !== undefined) {
    return [OUTCOMES[record.decision](`{${record.architectures.join(", ")}}`), ...omittedLine(record)];
  }
  switch (entryOf(pod.labels, SCHEDULING_GATE)) {
    case GateLabel.removed:
      return ["Archway released it without a constraint of its own."];
    case GateLabel.notSet:
      return [`Archway left it alone: ${exemption(pod)}`, ...toleranceLine(pod)];
    default:
      return [UNSEEN[context.participation]];
  }
}

const OUTCOMES: Readonly<Record<DecisionRecord["decision"], (names: string) => string>> = {
  place: (names) => `Its images all run on ${names}, so it may run only there.`,
  "user-constrained": () => "It constrains the architecture itself; Archway added only preferences.",
  nowhere: () => "Its images share no architecture, so no node can run it.",
  fallback: (names) =>
    `Its images could not all be inspected, so it fell back to ${names}; whether they run there is not known.`,
  release: () =>
    "Its images could not all be inspected, so it was released unconstrained: it may land where they do not run.",
};

function omittedLine({ omitted }: DecisionRecord): readonly string[] {
  return omitted === 0 ? [] : [`The record has no room for ${omitted} more of its images.`];
}

/** The architecture taints that a pod tolerates by name, whoever added the tolerations. */
function toleranceLine({ tolerations }: PodView): readonly string[] {
  const named = (tolerations ?? []).filter(({ operator, value }) =>
    operator !== "Exists" && isKnownArchitecture(value)
  );
  const keys = Map.groupBy(named, ({ key }) => key);
  return [...keys].map(([key, of]) => `It tolerates the taint ${key} of ${of.map(({ value }) => value).join(", ")}.`);
}

/** Exemptions still visible on a stored pod. Others depend on changed state, or on flags of `serve`. */
function exemption(pod: PodView): string {
  // Uses the default names, because the flags of `serve` are unknown here.
  if (isSystemNamespace(pod.namespace, { systemNamespaces: DEFAULT_SYSTEM_NAMESPACES })) {
    return `${DEFAULT_SYSTEM_NAMESPACES.join(", ")} namespaces are exempt unless --system-namespaces says otherwise.`;
  }
  if (hasControlPlaneSelector(pod)) return "its nodeSelector names the control plane.";
  if (pod.isDaemonSetControlled) return "its DaemonSet has one pod for each node.";
  if (hasRequiredArchitecture(pod)) return "its nodeSelector or node affinity names the architecture already.";
  return "it came with a node name, its namespace or RuntimeClass is exempt, or gating was stopped for want of a leader.";
}

const UNSEEN: Readonly<Record<Participation, string>> = {
  off: "Archway has not seen it: there is no ClusterPodPlacementConfig, so pod placement is off.",
  "not-selected": "Archway has not seen it: the ClusterPodPlacementConfig does not select its namespace.",
  audited: "Archway has left it as it is: its namespace is in audit mode.",
  selected: "Archway has not touched it: it is older than the webhook, no replica answered then, or --audit is on.",
  unread: "Archway has not seen it: its namespace is not selected, or the webhook was away when it was created.",
};

function failureLines(pod: PodView): readonly string[] {
  const count = entryOf(pod.labels, PodLabel.inspectErrorCount);
  const text = entryOf(pod.annotations, PodAnnotation.inspectError);
  if (count === undefined) return isGated(pod) ? ["No registry has failed; the answer is still to come."] : [];
  const failing = entryOf(pod.labels, PodLabel.inspectError) !== undefined;
  const ending = isGated(pod) ? `Inspection fails (count ${count})` : "Inspection failed until Archway gave up";
  const lead = failing ? ending : `Inspection failed before (count ${count})`;
  return [text === undefined ? `${lead}.` : `${lead}: ${text}`];
}

/** Why gating is stopped, for a pod that Archway has neither placed nor released. */
function gatingLines(pod: PodView, { gatingStopped }: ExplainContext): readonly string[] {
  const isDone = entryOf(pod.labels, SCHEDULING_GATE) === GateLabel.removed;
  return gatingStopped === undefined || isDone ? [] : [`Gating is stopped: ${gatingStopped}`];
}

function failingLines({ failing }: ExplainContext): readonly string[] {
  return failing === undefined || failing.message === "" ? [] : [`The kubelet says: ${failing.message}`];
}

function preferenceLines(pod: PodView): readonly string[] {
  const sources = entryOf(pod.annotations, PodAnnotation.preferredSources) ?? "";
  return sources === "" ? [] : [`Preferences: ${sources.split(",").join(", ")}`];
}
