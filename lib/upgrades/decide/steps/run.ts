// Runs steps: every run begins at the first one and stops at the first that is not complete. What a step has done is saved
// before the next one begins, so that the next leader repeats after a crash at most the step that was being carried out.
import { withNotified } from "../notifications/notify.ts";
import { conditionOf, historyOf, withCondition, withHistory, withPlanCondition } from "../status_changes.ts";
import type { Effect } from "../types/effects.ts";
import type { Base, Observed, Reading } from "../types/observed.ts";
import type { DesiredRelease, History, UpgradeStatus } from "../types/plan.ts";
import type { Answer, Request, Step, StepRecord, StepResult } from "../types/steps.ts";
import { renderTime } from "../../../cluster/time.ts";

/** What a run starts from. `target` has an entry in the history of `status`. */
export interface RunInput {
  readonly base: Base;
  readonly target: Pick<DesiredRelease, "version" | "architecture">;
  readonly status: UpgradeStatus;
  readonly nowMs: number;
}

/** How a run ends, with the status as it is to be written. */
export type RunEnd =
  & { readonly status: UpgradeStatus }
  & (
    | { readonly kind: "complete" }
    | { readonly kind: "waiting"; readonly requeueAfterMs?: number | undefined }
    | { readonly kind: "failed"; readonly message: string }
  );

/** Between the name of a step and what it waits for, in the message of its condition: as the Managed Upgrade Operator writes it. */
export const IN_PROGRESS = " still in progress: ";

interface Run {
  readonly status: UpgradeStatus;
  readonly read: Observed["read"];
}

interface Turn {
  readonly run: Run;
  readonly end: RunEnd | undefined;
}

export function* runSteps(steps: readonly Step[], input: RunInput): Generator<Request, RunEnd, Answer> {
  let run: Run = { status: input.status, read: {} };
  for (const step of steps) {
    const turn: Turn = yield* takeStep(step, { run, input });
    if (turn.end !== undefined) return turn.end;
    run = turn.run;
  }
  return { kind: "complete", status: run.status };
}

interface Context {
  readonly run: Run;
  readonly input: RunInput;
}

function* takeStep(step: Step, { run, input }: Context): Generator<Request, Turn, Answer> {
  const { base, nowMs, target } = input;
  const started = withStart(entryOf(run.status, target), step.id, nowMs);
  const read = yield* readMore(run.read, step.reads({ ...base, history: started, read: run.read }));
  const result = step.decide({ ...base, history: started, read }, nowMs);
  const { done, failure } = yield* carryOut(result.effects);
  const notified = withNotified(started, done, nowMs);
  const recorded = failure === undefined ? withRecord(notified, result.record, nowMs) : notified;
  const settled = settle(recorded, { id: step.id, result, failure, nowMs });
  const found = failure === undefined ? withFinding(run.status, result.record, input) : run.status;
  const status = withHistory(found, settled);
  if (isLasting(done) || result.record !== undefined) yield { kind: "save", status };
  const next = { status, read: withoutStale(read, done) };
  return { run: next, end: endOf(result, { status, failure }) };
}

/** The entry of the target. Throws when there is none: the caller has made one. */
function entryOf(status: UpgradeStatus, target: RunInput["target"]): History {
  const entry = historyOf(status, target);
  if (entry === undefined) throw new Error(`Cannot run the steps of "${target.version}": it has no history entry.`);
  return entry;
}

function* readMore(read: Observed["read"], wanted: readonly Reading[]): Generator<Request, Observed["read"], Answer> {
  const readings = wanted.filter((name) => read[name] === undefined);
  if (readings.length === 0) return read;
  const answer = yield { kind: "read", readings };
  return answer.kind === "read" ? { ...read, ...answer.read } : read;
}

interface CarriedOut {
  readonly done: readonly Effect[];
  readonly failure: string | undefined;
}

/** Has effects carried out; none need no one. */
export function* carryOut(effects: readonly Effect[]): Generator<Request, CarriedOut, Answer> {
  if (effects.length === 0) return { done: [], failure: undefined };
  const answer = yield { kind: "apply", effects };
  return answer.kind === "applied" ? answer : { done: [], failure: "the effects were not carried out" };
}

function withStart(history: History, type: string, nowMs: number): History {
  if (conditionOf(history, type) !== undefined) return history;
  return withCondition(history, {
    type,
    status: "False",
    reason: `${type} not done`,
    message: `${type} has started`,
    startTime: renderTime(nowMs),
  }, nowMs);
}

interface Settlement {
  readonly id: string;
  readonly result: StepResult;
  readonly failure: string | undefined;
  readonly nowMs: number;
}

function settle(history: History, { id, result, failure, nowMs }: Settlement): History {
  const known = conditionOf(history, id);
  const open = { type: id, status: "False", reason: `${id} not done`, startTime: known?.startTime } as const;
  if (failure !== undefined) return withCondition(history, { ...open, message: failure }, nowMs);
  switch (result.kind) {
    case "fail":
      return withCondition(history, { ...open, message: result.message }, nowMs);
    case "wait": {
      const message = `${id}${IN_PROGRESS}${result.message}`;
      return withCondition(history, { ...open, message, completeTime: known?.completeTime }, nowMs);
    }
    case "done": {
      const { startTime, completeTime = renderTime(nowMs) } = known ?? {};
      const message = `${id} is completed`;
      return withCondition(
        history,
        { type: id, status: "True", reason: `${id} done`, message, startTime, completeTime },
        nowMs,
      );
    }
  }
}

function withRecord(history: History, record: StepRecord | undefined, nowMs: number): History {
  const { workers, baseline = history.baseline } = record ?? {};
  const { workerStartTime, workerCompleteTime } = history;
  return {
    ...history,
    baseline,
    workerStartTime: workers === "started" ? workerStartTime ?? renderTime(nowMs) : workerStartTime,
    workerCompleteTime: workers === "finished" && workerStartTime !== undefined
      ? workerCompleteTime ?? renderTime(nowMs)
      : workerCompleteTime,
  };
}

function withFinding(status: UpgradeStatus, record: StepRecord | undefined, { base, nowMs }: RunInput): UpgradeStatus {
  if (record?.finding === undefined) return status;
  return withPlanCondition(status, record.finding, { generation: base.plan.generation, nowMs });
}

/** Gauges can be set again by any replica; everything else must be recorded. */
function isLasting(effects: readonly Effect[]): boolean {
  return effects.some(({ kind }) => kind !== "setMetric" && kind !== "clearMetric" && kind !== "clearMetrics");
}

/** What an effect changes is read again before another step decides by it. */
const CHANGED_BY: Readonly<Partial<Record<Effect["kind"], readonly Reading[]>>> = {
  createSilence: ["silences"],
  endSilence: ["silences"],
  reserveCapacity: ["capacity", "capacityLeft"],
  releaseCapacity: ["capacity", "capacityLeft"],
  createSmokeMachine: ["smoke"],
  deleteSmokeMachine: ["smoke"],
};

function withoutStale(read: Observed["read"], effects: readonly Effect[]): Observed["read"] {
  const stale = effects.flatMap(({ kind }): readonly string[] => CHANGED_BY[kind] ?? []);
  if (stale.length === 0) return read;
  return Object.fromEntries(Object.entries(read).filter(([name]) => !stale.includes(name)));
}

function endOf(
  result: StepResult,
  { status, failure }: { readonly status: UpgradeStatus; readonly failure: string | undefined },
): RunEnd | undefined {
  if (failure !== undefined) return { kind: "failed", message: failure, status };
  switch (result.kind) {
    case "done":
      return undefined;
    case "wait":
      return { kind: "waiting", requeueAfterMs: result.requeueAfterMs, status };
    case "fail":
      return { kind: "failed", message: result.message, status };
  }
}
