// The parts of an explanation and what it is made from; among that, the container that keeps a scheduled pod from running.
import type { DecisionRecord } from "../decision_types.ts";
import { listAt, memberOf, objectAt, textAt } from "../../../json.ts";

/** How far a pod has come. `held`: by gates of others; `failing`: it has a node, and one of its containers does not run. */
export type PodStage = "gated" | "held" | "unschedulable" | "pending" | "scheduled" | "failing";

/** `off`: there is no cluster config; `audited`: nothing is changed there; `unread`: it could not be read. */
export type Participation = "selected" | "not-selected" | "audited" | "off" | "unread";

export interface ExplainContext {
  /** By the clock of the API server; undefined when the pod has no time of creation. */
  readonly ageMs: number | undefined;
  /** The message of the scheduler when it found no node; undefined when there is none. */
  readonly schedulerSays: string | undefined;
  /** The container that does not run though it should; undefined when there is none. */
  readonly failing?: FailingContainer | undefined;
  readonly participation: Participation;
  /** The condition GatingStopped of the cluster config, while it holds: its reason and message. */
  readonly gatingStopped?: string | undefined;
  /** Programs of another architecture in the pod: the messages of its events, and what is recorded of its images. */
  readonly execFormatErrors?: readonly string[] | undefined;
  /** What the Warnings say of images that lack what the pod pins, or the architecture of its node. */
  readonly mismatches?: readonly string[] | undefined;
}

export interface PodExplanation {
  readonly state: PodStage;
  readonly standing: string;
  /** One sentence each, the most important first. */
  readonly why: readonly string[];
  readonly next: readonly string[];
  /** Undefined when nothing is recorded. */
  readonly record: DecisionRecord | undefined;
}

export interface ExplainFacts {
  readonly record: DecisionRecord | undefined;
  readonly state: PodStage;
  readonly around: ExplainContext;
}

interface FailingContainer {
  readonly name: string;
  /** As `kubectl get pods` shows it: `CrashLoopBackOff`, `ImagePullBackOff`, `Error`. */
  readonly reason: string;
  /** What the kubelet says; may be empty. */
  readonly message: string;
  /** Whether it has run, so that there is output of it. */
  readonly hasRun: boolean;
}

/** Reasons to wait that every pod has for a moment. */
const STARTING: readonly string[] = ["", "PodInitializing", "ContainerCreating"];

/** The first of a pod's init containers and containers that waits or has ended because of a failure. */
export function failingContainer(pod: unknown): FailingContainer | undefined {
  const status = objectAt(pod, "status");
  if (textAt(status, "phase") === "Succeeded") return undefined;
  const statuses = ["initContainerStatuses", "containerStatuses"].flatMap((list) => listAt(status, list) ?? []);
  return statuses.map(failureOf).find((failure) => failure !== undefined);
}

function failureOf(container: unknown): FailingContainer | undefined {
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
