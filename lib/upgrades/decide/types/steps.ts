// An upgrade as data: steps in their order, and what a step may answer.
import type { Effect } from "./effects.ts";
import type { Observed, ReadingName } from "./observed.ts";
import type { Baseline, NewPlanCondition, UpgradeSpec, UpgradeStatus } from "./plan.ts";

export interface StepRecord {
  /** The upgrade of the nodes has started or is finished; the time of each is recorded once. */
  readonly workers?: "started" | "finished" | undefined;
  readonly baseline?: Baseline | undefined;
  readonly finding?: NewPlanCondition | undefined;
}

/** The answer of a step. Its effects are applied first; when an effect fails, the step fails with its message. */
export type StepResult =
  & {
    readonly effects: readonly Effect[];
    readonly record?: StepRecord | undefined;
  }
  & (
    | { readonly kind: "done" }
    /** `message` says what is waited for. */
    | { readonly kind: "wait"; readonly message: string; readonly requeueAfterMs?: number | undefined }
    | { readonly kind: "fail"; readonly message: string }
  );

/** What people read of a step: on its page, and in the table of docs/upgrades.md, which is made of it. */
export interface StepWords {
  /** Type of the step's condition. Successive steps may share one, and so may steps of different upgrades. */
  readonly id: string;
  readonly stage: "Before" | "Control plane" | "Workers" | "After";
  readonly title: string;
  /** Markdown, like `remedy`: what to do if this does not come. The table links the names of alerts in it. */
  readonly waitsFor: string;
  readonly remedy: string;
  /** Whether the plan disables what the step is for, which is then shown as skipped. */
  readonly isSkipped?: (spec: UpgradeSpec) => boolean;
}

export interface Step extends StepWords {
  /** What the step reads, given what is known so far; nothing where the step is skipped. */
  readonly reads: (observed: Observed) => readonly ReadingName[];
  readonly decide: (observed: Observed, nowMs: number) => StepResult;
}

export interface Upgrader {
  readonly name: "OSD" | "ARO" | "multiarch-migration";
  readonly steps: readonly Step[];
  /** Whether an upgrade that did not begin within `upgradeWindow.timeOut` fails. */
  readonly hasWindow: boolean;
}

export type ReconcileRequest =
  | { readonly kind: "read"; readonly readings: readonly ReadingName[] }
  /** Do these in order and stop at the first that fails, unless it says otherwise. */
  | { readonly kind: "apply"; readonly effects: readonly Effect[] }
  /** Write the status if it has changed, guarded by the last resourceVersion. A conflict ends the reconcile. */
  | { readonly kind: "save"; readonly status: UpgradeStatus };

/** The result of a request. Members that it did not ask for are empty. */
export interface ReconcileAnswer {
  readonly read: Observed["read"];
  readonly done: readonly Effect[];
  readonly failure: string | undefined;
}

export const NO_ANSWER: ReconcileAnswer = { read: {}, done: [], failure: undefined };

export type ReconcileEnd =
  | { readonly kind: "finished"; readonly requeueAfterMs?: number | undefined }
  /** To be tried again with backoff, at the latest after `requeueAfterMs` where it is given. */
  | { readonly kind: "failed"; readonly message: string; readonly requeueAfterMs?: number | undefined };

export type Coroutine<Result> = Generator<ReconcileRequest, Result, ReconcileAnswer>;

/** One reconcile: yields what to read, do or write, and returns how it ended. What was done is saved first. */
export type Reconcile = Coroutine<ReconcileEnd>;
