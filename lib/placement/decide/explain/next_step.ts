// What the user can do about a pod: the steps of the first matching rule.
import { GateLabel, NODE_ARCH_LABEL, PodAnnotation, PodLabel, SCHEDULING_GATE } from "../../../names.ts";
import type { DecisionRecord } from "../decision_types.ts";
import { entryOf } from "../../../json.ts";
import { adviceFor, reasonIn } from "../failure_advice.ts";
import type { ExplainFacts } from "./pod_explanation.ts";
import type { PodView } from "../pod/pod_view.ts";

/** A pod held longer needs attention (ms): the maximum gate age is 60 s by default. */
const LONG_HELD_MS = 120_000;

const RECREATE = "Then recreate the pod: a pod that has been released is not decided again.";

const LOOK = "Look whether Archway runs, and at its log: kubectl get pods,lease -n archway-system";

interface Rule {
  readonly holds: (facts: NextFacts) => boolean;
  readonly steps: (facts: NextFacts) => readonly string[];
}

interface NextFacts extends ExplainFacts {
  readonly pod: PodView;
  readonly hasInspectError: boolean;
  /** How to fix the failure in the pod's annotation. */
  readonly correction: string;
}

const RULES: readonly Rule[] = [
  {
    holds: ({ context }) => (context.execFormatErrors ?? []).length > 0,
    steps: () => ["Do what the message says, then recreate the pod."],
  },
  {
    holds: ({ context }) => (context.mismatches ?? []).length > 0,
    steps: () => [
      "Use images that have the architecture, or change what makes the pod: its constraint, node name or DaemonSet.",
    ],
  },
  {
    holds: ({ stage, context }) => stage === "gated" && (context.ageMs ?? 0) >= LONG_HELD_MS,
    steps: () => [
      LOOK,
      "To free all pods by hand: archway ungate --dry-run, then archway ungate",
    ],
  },
  {
    holds: ({ stage, hasInspectError }) => stage === "gated" && hasInspectError,
    steps: ({ correction }) => [
      correction,
      "Archway asks again by itself; the pod is released at the latest when the maximum gate age is over (60s unless " +
      "configured).",
    ],
  },
  {
    holds: ({ stage }) => stage === "gated",
    steps: () => ["Wait: it is released when the maximum gate age is over (60s unless configured), whatever happens."],
  },
  {
    holds: ({ pod: { record } }) => record?.decision === "nowhere",
    steps: ({ pod: { record } }) => [`Build its images for a common architecture${imageList(record)}.`, RECREATE],
  },
  {
    holds: ({ pod: { record } }) => record?.decision === "fallback" || record?.decision === "release",
    steps: ({ correction }) => [correction, RECREATE],
  },
  {
    holds: ({ stage }) => stage === "failing",
    steps: ({ pod: { name, namespace }, context: { failing } }) => [
      failing?.hasRun
        ? `Read what it wrote: kubectl logs ${name} -n ${namespace} -c ${failing.name}`
        : `Read why in its events: kubectl events --for pod/${name} -n ${namespace}`,
    ],
  },
  {
    holds: ({ stage }) => stage === "held",
    steps: ({ pod }) => [`Ask the owner of ${(pod.gates ?? []).join(", ")}; Archway has done its part.`],
  },
  {
    holds: ({ stage, pod: { record } }) => stage === "unschedulable" && record?.decision === "place",
    steps: ({ pod: { record } }) => [
      `Look for a node that has room: kubectl get nodes -l '${NODE_ARCH_LABEL} in (${
        record?.architectures.join(",")
      })'`,
      "Where none is listed, add such a node, or build the images for an architecture that the cluster has.",
    ],
  },
  {
    holds: ({ pod, context }) => !isSeen(pod) && context.participation === "off",
    steps: () => ["Create a ClusterPodPlacementConfig named cluster, then recreate the pod."],
  },
  {
    holds: ({ pod, context }) => !isSeen(pod) && context.participation === "not-selected",
    steps: () => ["Label the namespace so that spec.namespaceSelector selects it, then recreate the pod."],
  },
  {
    holds: ({ pod, context }) => !isSeen(pod) && context.participation === "audited",
    steps: (
      { pod },
    ) => [`What would be done is in its events: kubectl events --for pod/${pod.name} -n ${pod.namespace}`],
  },
  {
    holds: ({ pod, context }) => context.gatingStopped !== undefined && !isPlaced(pod),
    steps: () => [LOOK, "To have it placed by its images, recreate the pod when gating goes on."],
  },
  {
    holds: ({ pod }) => !isSeen(pod),
    steps: () => [
      "To have it placed by its images, recreate the pod.",
      "If new pods are left out as well, the API server cannot call Archway; its log names the cause, and " +
      "kubectl get events -n archway-system those that were found.",
    ],
  },
];

export function nextSteps(pod: PodView, explained: ExplainFacts): readonly string[] {
  const hasInspectError = entryOf(pod.labels, PodLabel.inspectError) !== undefined;
  const facts = { ...explained, pod, hasInspectError, correction: correctionOf(pod) };
  return RULES.find(({ holds }) => holds(facts))?.steps(facts) ?? [];
}

function correctionOf(pod: PodView): string {
  const reason = reasonIn(entryOf(pod.annotations, PodAnnotation.inspectError) ?? "");
  const advice = reason === undefined ? undefined : adviceFor(reason, { pullSecrets: pod.imagePullSecrets });
  return advice ?? "Fix what the message names (image name, registry, pull secret).";
}

function isPlaced(pod: PodView): boolean {
  return entryOf(pod.labels, SCHEDULING_GATE) === GateLabel.removed;
}

function isSeen(pod: PodView): boolean {
  const label = entryOf(pod.labels, SCHEDULING_GATE);
  return label === GateLabel.removed || label === GateLabel.notSet || label === GateLabel.gated;
}

function imageList(record: DecisionRecord | undefined): string {
  const images = (record?.images ?? []).map(({ image, architectures }) =>
    `${image} has ${architectures.join(", ") || "none"}`
  );
  return images.length === 0 ? "" : `: ${images.join("; ")}`;
}
