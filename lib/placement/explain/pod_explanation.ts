// The words of an explanation: what is told of a pod, and what it is told from. Used by explain.ts, next_step.ts and the
// command line.
import type { DecisionRecord } from "../decision_types.ts";

/** Where a pod stands. `held`: by gates of others. */
export type PodState = "gated" | "held" | "unschedulable" | "pending" | "scheduled";

/**
 * Whether Archway minds the pod's namespace. `off`: there is no cluster config; `audited`: nothing is changed there;
 * `unread`: nobody looked, or the right to look is missing.
 */
export type Participation = "selected" | "not-selected" | "audited" | "off" | "unread";

/** What the story needs besides the pod's own marks. */
export interface ExplainContext {
  /** By the clock of the API server; undefined when the pod has no time of creation. */
  readonly ageMs: number | undefined;
  /** What the scheduler said when it found no node; undefined when it did not. */
  readonly schedulerSays: string | undefined;
  readonly participation: Participation;
}

/** The explanation of one pod. */
export interface PodExplanation {
  readonly state: PodState;
  /** The state in a sentence. */
  readonly standing: string;
  /** One sentence each, most telling first. */
  readonly why: readonly string[];
  /** What a person can do; empty when there is nothing to do. */
  readonly next: readonly string[];
  /** undefined when nothing is recorded. */
  readonly record: DecisionRecord | undefined;
}

/** What why and next are told from, besides the pod. */
export interface StoryFacts {
  readonly record: DecisionRecord | undefined;
  readonly state: PodState;
  readonly around: ExplainContext;
}
