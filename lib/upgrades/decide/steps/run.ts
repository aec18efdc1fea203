// Runs steps up to the first incomplete one. Lasting results are saved before the next step begins, so that a crash
// repeats at most one step.
import { withNotified } from "../notifications/notify.ts";
import { withHistoryEntry, withPlanCondition, withStepCondition } from "../status_changes.ts";
import type { Effect } from "../types/effects.ts";
import type { Observed, ReadingName, UpgradeFacts } from "../types/observed.ts";
import type { HistoryEntry, UpgradeStatus } from "../types/plan.ts";
import {
  type Coroutine,
  NO_ANSWER,
  type ReconcileAnswer,
  type ReconcileEnd,
  type Step,
  type StepRecord,
  type StepResult,
} from "../types/steps.ts";
import { findCondition } from "../../../vocabulary/condition.ts";
import { renderTime } from "../../../vocabulary/time.ts";

interface RunInput {
  readonly facts: UpgradeFacts;
  readonly entry: HistoryEntry;
  /** Has `entry` in its history. */
  readonly status: UpgradeStatus;
  readonly nowMs: number;
}

export type RunEnd = { readonly status: UpgradeStatus } & ({ readonly kind: "complete" } | ReconcileEnd);

/** What the MUO writes in a condition's message between the name of the step and what the step waits for. */
export const IN_PROGRESS = " still in progress: ";

export function* runSteps(steps: readonly Step[], input: RunInput): Coroutine<RunEnd> {
  const { facts, nowMs } = input;
  let { status, entry } = input;
  let known: Observed["read"] = {};
  for (const step of steps) {
    const started = withStart(entry, step.id, nowMs);
    const wanted = step.reads({ ...facts, entry: started, read: known }).filter((name) => known[name] === undefined);
    const found = { ...known, ...yield* requestReadings(wanted) };
    const decided = step.decide({ ...facts, entry: started, read: found }, nowMs);
    const { done, failure } = yield* requestEffects(decided.effects);
    const result: StepResult = failure === undefined ? decided : { kind: "fail", message: failure, effects: [] };
    const recorded = withRecord(withNotified(started, done, nowMs), result.record, nowMs);
    entry = withResult(recorded, { id: step.id, result, nowMs });
    status = withHistoryEntry(withFinding(status, result.record, input), entry);
    if (hasLasting(done) || decided.record !== undefined) yield { kind: "save", status };
    if (result.kind === "wait") return { kind: "finished", requeueAfterMs: result.requeueAfterMs, status };
    if (result.kind === "fail") return { kind: "failed", message: result.message, status };
    known = withoutStale(found, done);
  }
  return { kind: "complete", status };
}

export function* requestReadings(readings: readonly ReadingName[]): Coroutine<Observed["read"]> {
  if (readings.length === 0) return {};
  return (yield { kind: "read", readings }).read;
}

export function* requestEffects(effects: readonly Effect[]): Coroutine<ReconcileAnswer> {
  return effects.length === 0 ? NO_ANSWER : yield { kind: "apply", effects };
}

function withStart(entry: HistoryEntry, type: string, nowMs: number): HistoryEntry {
  if (findCondition(entry.conditions, type) !== undefined) return entry;
  return withStepCondition(entry, {
    type,
    status: "False",
    reason: `${type} not done`,
    message: `${type} has started`,
    startTime: renderTime(nowMs),
  }, nowMs);
}

function withResult(
  entry: HistoryEntry,
  { id, result, nowMs }: { readonly id: string; readonly result: StepResult; readonly nowMs: number },
): HistoryEntry {
  const { startTime, completeTime } = findCondition(entry.conditions, id) ?? {};
  const open = { type: id, status: "False", reason: `${id} not done`, startTime } as const;
  switch (result.kind) {
    case "fail":
      return withStepCondition(entry, { ...open, message: result.message }, nowMs);
    case "wait":
      return withStepCondition(
        entry,
        { ...open, message: `${id}${IN_PROGRESS}${result.message}`, completeTime },
        nowMs,
      );
    case "done":
      return withStepCondition(entry, {
        type: id,
        status: "True",
        reason: `${id} done`,
        message: `${id} is completed`,
        startTime,
        completeTime: completeTime ?? renderTime(nowMs),
      }, nowMs);
  }
}

function withRecord(entry: HistoryEntry, record: StepRecord | undefined, nowMs: number): HistoryEntry {
  const { workers, baseline = entry.baseline } = record ?? {};
  const { workerStartTime, workerCompleteTime } = entry;
  return {
    ...entry,
    baseline,
    workerStartTime: workers === "started" ? workerStartTime ?? renderTime(nowMs) : workerStartTime,
    workerCompleteTime: workers === "finished" && workerStartTime !== undefined
      ? workerCompleteTime ?? renderTime(nowMs)
      : workerCompleteTime,
  };
}

function withFinding(status: UpgradeStatus, record: StepRecord | undefined, { facts, nowMs }: RunInput): UpgradeStatus {
  if (record?.finding === undefined) return status;
  return withPlanCondition(status, record.finding, { generation: facts.plan.generation, nowMs });
}

function hasLasting(effects: readonly Effect[]): boolean {
  return effects.some(({ kind }) => kind !== "setMetric" && kind !== "clearMetric" && kind !== "clearMetrics");
}

/** The readings that an effect makes stale: they are read again before another step uses them. */
export const STALE_AFTER: Readonly<Partial<Record<Effect["kind"], readonly ReadingName[]>>> = {
  createSilence: ["silences"],
  endSilence: ["silences"],
  reserveCapacity: ["capacity", "capacityLeft"],
  releaseCapacity: ["capacity", "capacityLeft"],
  createSmokeMachine: ["smoke"],
  deleteSmokeMachine: ["smoke"],
};

function withoutStale(read: Observed["read"], effects: readonly Effect[]): Observed["read"] {
  const stale = effects.flatMap(({ kind }): readonly string[] => STALE_AFTER[kind] ?? []);
  if (stale.length === 0) return read;
  return Object.fromEntries(Object.entries(read).filter(([name]) => !stale.includes(name)));
}
