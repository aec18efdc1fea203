// When the progress is reported: each phase that lasts, and numbers now and then. A phase of a moment is not reported.
import type { TaintPhase } from "./next_step.ts";

export interface ReportMemory {
  readonly phase: TaintPhase | undefined;
  readonly sinceMs: number;
  /** The phase and message that the last report had. */
  readonly reported: TaintPhase | undefined;
  readonly message: string;
  readonly atMs: number;
}

export const NOTHING_REPORTED: ReportMemory = {
  phase: undefined,
  sinceMs: 0,
  reported: undefined,
  message: "",
  atMs: 0,
};

/** What to report now. `event`: the phase is a new one; `condition`: its words are. */
export interface DueReport {
  readonly memory: ReportMemory;
  readonly event: boolean;
  readonly condition: boolean;
}

/** A phase that others may follow within moments counts once it has lasted so long (ms). */
const LASTING_MS = 3_000;
/** Between two reports of numbers (ms). */
const NUMBERS_MS = 10_000;
const FINAL: readonly TaintPhase[] = ["Done", "Paused", "Lifted"];

export function decideReport(
  memory: ReportMemory,
  { phase, message, nowMs }: { readonly phase: TaintPhase; readonly message: string; readonly nowMs: number },
): DueReport {
  const sinceMs = memory.phase === phase ? memory.sinceMs : nowMs;
  const isLasting = FINAL.includes(phase) || nowMs - sinceMs >= LASTING_MS;
  const event = isLasting && memory.reported !== phase;
  const condition = event || isLasting && message !== memory.message && nowMs - memory.atMs >= NUMBERS_MS;
  const seen = { ...memory, phase, sinceMs };
  return {
    event,
    condition,
    memory: condition ? { ...seen, reported: phase, message, atMs: nowMs } : seen,
  };
}
