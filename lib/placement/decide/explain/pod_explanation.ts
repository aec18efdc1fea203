// The inputs and parts of an explanation, and the container that keeps a scheduled pod from running.
import { listAt, memberOf, objectAt, textAt } from "../../../json.ts";

/** `held`: by other gates; `failing`: it has a node, but a container does not run. */
export type PodStage = "gated" | "held" | "unschedulable" | "pending" | "scheduled" | "failing";

/** `off`: no cluster config; `audited`: the namespace is in audit mode; `unread`: config or namespace unreadable. */
export type Participation = "selected" | "not-selected" | "audited" | "off" | "unread";

export interface ExplainContext {
  /** By the API server's clock; undefined without a creation time. */
  readonly ageMs: number | undefined;
  /** The scheduler's message when it found no node; undefined otherwise. */
  readonly schedulerSays: string | undefined;
  /** The container that should run but does not; undefined when there is none. */
  readonly failing?: FailingContainer | undefined;
  readonly participation: Participation;
  /** Reason and message of the cluster config's condition GatingStopped, while true. */
  readonly gatingStopped?: string | undefined;
  /** Exec format errors in the pod: messages of its events, and records of its images. */
  readonly execFormatErrors?: readonly string[] | undefined;
  /** Warnings about images that lack the pod's pinned architectures, or its node's. */
  readonly mismatches?: readonly string[] | undefined;
}

export interface PodExplanation {
  readonly stage: PodStage;
  readonly summary: string;
  /** One sentence each, most important first. */
  readonly why: readonly string[];
  readonly next: readonly string[];
}

export interface ExplainFacts {
  readonly stage: PodStage;
  readonly context: ExplainContext;
}

interface FailingContainer {
  readonly name: string;
  /** As `kubectl get pods` shows it: `CrashLoopBackOff`, `ImagePullBackOff`, `Error`. */
  readonly reason: string;
  /** The kubelet's message; may be empty. */
  readonly message: string;
  /** Whether it has run and may have logs. */
  readonly hasRun: boolean;
}

/** Waiting reasons that every pod has briefly. */
const STARTING: readonly string[] = ["", "PodInitializing", "ContainerCreating"];

/** A pod's first container, init containers included, that waits or ended because of a failure. */
export function failingContainer(pod: unknown): FailingContainer | undefined {
  const status = objectAt(pod, "status");
  if (textAt(status, "phase") === "Succeeded") return undefined;
  const statuses = ["initContainerStatuses", "containerStatuses"].flatMap((list) => listAt(status, list) ?? []);
  return statuses.map(containerFailureOf).find((failure) => failure !== undefined);
}

function containerFailureOf(container: unknown): FailingContainer | undefined {
  const name = textAt(container, "name");
  const state = objectAt(container, "state");
  const [waiting, terminated] = [objectAt(state, "waiting"), objectAt(state, "terminated")];
  const wait = textAt(waiting, "reason");
  if (!STARTING.includes(wait)) {
    return { name, reason: wait, message: textAt(waiting, "message"), hasRun: wait === "CrashLoopBackOff" };
  }
  const exitCode = memberOf(terminated, "exitCode");
  if (typeof exitCode !== "number" || exitCode === 0) return undefined;
  const reason = textAt(terminated, "reason") || "Error";
  return { name, reason, message: textAt(terminated, "message"), hasRun: true };
}
