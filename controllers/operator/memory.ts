// The state of the operator between reconciles, in monotonic time. Ends with the leadership.
import { backoffMs } from "../../lib/clock.ts";

/** The memory. */
export interface Memory {
  /** Since when no replica serves. */
  unservedSinceMs: number | undefined;
  /** Since when the config is leaving or gone. */
  leavingSinceMs: number | undefined;
  /** Since when no replica of an older version is left, terminating ones aside. */
  uniformSinceMs: number | undefined;
  /** Attempts to lift all gates by force. */
  forcedAttempts: number;
  /** When the last one was made. */
  forcedAtMs: number;
  /** Writes of the same webhook configuration in quick succession. */
  repairs: number;
  /** What was written last (JSON). */
  repairedWith: string;
  /** When it was written. */
  repairedAtMs: number;
  /** When the monitoring kinds were last read. */
  monitoringAtMs: number | undefined;
  /** When the DaemonSet of the exec format error monitor could not be made, and what the API server said. */
  monitorRefused: { readonly atMs: number; readonly why: string } | undefined;
  /** Since when that monitor is on its way out. */
  monitorLeavingSinceMs: number | undefined;
  /** It was deleted. */
  monitorRemoved: boolean;
  /** All ENoExecEvents were deleted, whatever became of them. */
  monitorForced: boolean;
  /** The API server refuses our finalizer on our own Deployment, or there is none. */
  handlerRefused: boolean;
  /** The finalizer on it was taken away. */
  handlerLetGo: boolean;
  /** The taints were taken off before the end, as far as that could be done. */
  taintsLifted: boolean;
  /** Consecutive failures. */
  failures: number;
  /** No reconcile before this time: backoff after a failure, or after another client has changed our objects. */
  restUntilMs: number;
  /** The API server refuses our finalizers on our account and role. */
  finalizersRefused: boolean;
  /** What was last read of our installation, once it is on its way out: that is for good. */
  ending: "uninstalling" | "left" | undefined;
}

/** A fresh memory. */
export function newMemory(): Memory {
  return {
    unservedSinceMs: undefined,
    leavingSinceMs: undefined,
    uniformSinceMs: undefined,
    forcedAttempts: 0,
    forcedAtMs: 0,
    repairs: 0,
    repairedWith: "",
    repairedAtMs: 0,
    monitoringAtMs: undefined,
    monitorRefused: undefined,
    monitorLeavingSinceMs: undefined,
    monitorRemoved: false,
    monitorForced: false,
    handlerRefused: false,
    handlerLetGo: false,
    taintsLifted: false,
    failures: 0,
    restUntilMs: 0,
    finalizersRefused: false,
    ending: undefined,
  };
}

/** Repairs this close together belong to one conflict with another writer (ms). */
const CONFLICT_WINDOW_MS = 20_000;
/** Repairs at full speed before the pauses begin. */
const FREE_REPAIRS = 5;

/** Notes a repair. What we wanted to change ourselves is the start of a new count. */
export function noteRepair(memory: Memory, repair: { readonly wanted: string; readonly nowMs: number }): void {
  const again = repair.wanted === memory.repairedWith && repair.nowMs - memory.repairedAtMs < CONFLICT_WINDOW_MS;
  memory.repairs = again ? memory.repairs + 1 : 1;
  memory.repairedWith = repair.wanted;
  memory.repairedAtMs = repair.nowMs;
}

/** How long to leave the other writer alone (ms); 0 while there is no conflict. */
export function conflictBackoffMs({ repairs, repairedAtMs }: Memory, nowMs: number): number {
  if (repairs <= FREE_REPAIRS || nowMs - repairedAtMs >= CONFLICT_WINDOW_MS) return 0;
  return backoffMs(repairs - FREE_REPAIRS, { baseMs: 500, capMs: 15_000 });
}
