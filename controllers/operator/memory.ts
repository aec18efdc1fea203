// The state of the operator between reconciles, in monotonic time. Ends with the leadership.
import { backoffMs } from "../../lib/clock.ts";

/** Repairs this close together belong to one conflict with another writer (ms). */
const CONFLICT_WINDOW_MS = 20_000;
/** Repairs at full speed before the pauses begin. */
const FREE_REPAIRS = 5;

export class Memory {
  unservedSinceMs: number | undefined;
  leavingSinceMs: number | undefined;
  /** Since when no replica of an older version is left, terminating ones aside. */
  uniformSinceMs: number | undefined;
  /** Attempts to lift all gates by force, and when the last one was made. */
  forcedAttempts = 0;
  forcedAtMs = 0;
  monitoringAtMs: number | undefined;
  /** When the DaemonSet of the exec format error monitor could not be made, and what the API server said. */
  monitorRefused: { readonly atMs: number; readonly why: string } | undefined;
  monitorLeavingSinceMs: number | undefined;
  monitorRemoved = false;
  /** All ENoExecEvents were deleted, handled or not. */
  monitorForced = false;
  /** The API server refuses our finalizer on our own Deployment, or there is none. */
  ownDeploymentRefused = false;
  ownDeploymentReleased = false;
  /** The taints were taken off before the end, as far as that could be done. */
  taintsLifted = false;
  failures = 0;
  /** No reconcile before this time: backoff after a failure, or after another client has changed our objects. */
  restUntilMs = 0;
  finalizersRefused = false;
  /** Set once our installation is being deleted, which is final. */
  ending: "uninstalling" | "left" | undefined;
  /** The last write of the webhook configuration: what was written (JSON), when, and how often in quick succession. */
  #repair = { wanted: "", atMs: 0, count: 0 };

  /** Counts a repair. A change that we wanted ourselves begins a new count. */
  noteRepair(wanted: string, nowMs: number): void {
    const { wanted: before, atMs, count } = this.#repair;
    const again = wanted === before && nowMs - atMs < CONFLICT_WINDOW_MS;
    this.#repair = { wanted, atMs: nowMs, count: again ? count + 1 : 1 };
  }

  /** How long to leave the other writer alone (ms); 0 while there is no conflict. */
  conflictBackoffMs(nowMs: number): number {
    const { atMs, count } = this.#repair;
    if (count <= FREE_REPAIRS || nowMs - atMs >= CONFLICT_WINDOW_MS) return 0;
    return backoffMs(count - FREE_REPAIRS, { baseMs: 500, capMs: 15_000 });
  }
}
