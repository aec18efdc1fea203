// The parts of an explanation, and what it is made from.
import type { DecisionRecord } from "../decision_types.ts";
import type { FailingContainer } from "./failing_container.ts";

/** How far a pod has come. `held`: by gates of others; `failing`: it has a node, and one of its containers does not run. */
export type PodStage = "gated" | "held" | "unschedulable" | "pending" | "scheduled" | "failing";

/**
 * Whether Archway places the pods of a namespace. `off`: there is no cluster config; `audited`: nothing is changed there;
 * `unread`: it was not read, or the right to read it is missing.
 */
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
}

export interface PodExplanation {
  readonly state: PodStage;
  readonly standing: string;
  /** One sentence each, the most important first. */
  readonly why: readonly string[];
  /** What the user can do; empty when there is nothing to do. */
  readonly next: readonly string[];
  /** undefined when nothing is recorded. */
  readonly record: DecisionRecord | undefined;
}

/** What the reasons and the next steps follow from, besides the pod. */
export interface ExplainFacts {
  readonly record: DecisionRecord | undefined;
  readonly state: PodStage;
  readonly around: ExplainContext;
}
