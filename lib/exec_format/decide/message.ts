// The message of the event on a pod: which container, which architecture, and what to do next.
import { entryOf } from "../../json.ts";
import { GateLabel, NODE_ARCH_LABEL, SCHEDULING_GATE } from "../../names.ts";
import { hasRequiredArchitecture } from "../../placement/decide/pod/constraints.ts";
import type { DecisionRecord } from "../../placement/decide/decision_types.ts";
import type { PodView } from "../../placement/decide/pod/pod_view.ts";
import type { PodContainer } from "./container.ts";
import { endedAtOnce } from "./suspect.ts";

export interface FailureFacts {
  readonly pod: PodView;
  /** Undefined when the pod's status does not show it. */
  readonly container: PodContainer | undefined;
  /** Architecture of the node; empty when the node does not report it. */
  readonly architecture: string;
  readonly imageArchitectures: readonly string[] | undefined;
  /** `pull`: the image was refused; `start`: the program was. */
  readonly refused: "pull" | "start";
  /** What the process was called; empty when that is not known. */
  readonly command: string;
}

/** Begins as the MTO's message does, since automation may parse it. */
export function describeFailure(facts: FailureFacts): string {
  const { container, architecture, refused, command } = facts;
  const subject = container === undefined ? "A container" : `Container "${container.name}"`;
  const where = `the node architecture${architecture === "" ? "" : ` (${architecture})`}`;
  const head = refused === "pull"
    ? `${subject} cannot run: its image has nothing for ${where}.`
    : `${subject} is running a binary incompatible with ${where}${command === "" ? "" : `: ${command}`}.`;
  const { nodeName } = facts.pod;
  return [head, ...nodeName === "" ? [] : [`Its node is ${nodeName}.`], ...advice(facts)].join(" ");
}

function advice(facts: FailureFacts): readonly string[] {
  const { container, architecture, imageArchitectures: has, refused } = facts;
  if (container === undefined) return ["Look at its images, and at what its scripts start."];
  const { image } = container;
  if (has === undefined) {
    const says = refused === "pull" ? "The container runtime refused the image" : "Archway could not inspect the image";
    return [`${says} ${image}.`, whyThere(facts), `Build it for ${architecture || "the architecture of the node"}.`];
  }
  if (!has.includes(architecture)) {
    const offers = has.join(", ") || "no architecture that Archway knows";
    return [
      `Image ${image} has ${offers}.`,
      whyThere(facts),
      `Build it for ${architecture}, or keep the pod off such nodes.`,
    ];
  }
  return endedAtOnce(container) && container.runsImageUnchanged
    ? [
      `Image ${image} claims ${architecture}, but the program in it is for another architecture: build it anew,`,
      "with the right base image and compiler target.",
    ]
    : [
      `Image ${image} has ${architecture}; a program that the container starts (copied, mounted or downloaded) has not,`,
      "or is no program: a script without a first line that begins with #!.",
    ];
}

/** Why a pod is on a node that it cannot run on, by its decision record and gate label. The first that holds counts. */
const REASONS: readonly (readonly [
  holds: (pod: PodView, decision: DecisionRecord["decision"] | undefined, gate: string | undefined) => boolean,
  says: string,
])[] = [
  [(pod) => pod.isDaemonSetControlled, `Its DaemonSet has a pod on every node: select nodes by ${NODE_ARCH_LABEL}.`],
  [
    (_pod, _decision, gate) => gate === undefined,
    "Archway has not placed this pod: its namespace is not selected, or no replica answered when it was created. Recreate it once that is mended.",
  ],
  [
    (_pod, decision) => decision === "fallback",
    "It fell back to the configured architecture, because an image could not be inspected.",
  ],
  [
    (_pod, decision) => decision === "release",
    "It was released without constraint, because an image could not be inspected.",
  ],
  [
    (_pod, decision) => decision === "place",
    "The image has changed since the pod was placed: recreate the pod, and it is placed by what the image is now.",
  ],
  [
    (pod, decision) => decision === "user-constrained" || hasRequiredArchitecture(pod),
    `Its own nodeSelector or affinity names ${NODE_ARCH_LABEL}: correct it.`,
  ],
  [
    (_pod, _decision, gate) => gate === GateLabel.notSet,
    "Archway left the pod alone: it named its node itself (spec.nodeName), or is exempt.",
  ],
];

function whyThere({ pod }: FailureFacts): string {
  const gate = entryOf(pod.labels, SCHEDULING_GATE);
  return REASONS.find(([holds]) => holds(pod, pod.record?.decision, gate))?.[1] ??
    "It was released without a constraint.";
}
