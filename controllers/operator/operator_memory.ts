// The operator's state between reconciles, in monotonic time. Lost with the leadership.
import { backoffMs } from "../../lib/clock.ts";

/** Repairs within this time (ms) belong to one conflict with another writer. */
const CONFLICT_WINDOW_MS = 20_000;
/** Repairs at full speed before the pauses begin. */
const FREE_REPAIRS = 5;

export class OperatorMemory {
  unservedSinceMs: number | undefined;
  leavingSinceMs: number | undefined;
  /** Since when no replica has an older version, except terminating ones. */
  uniformSinceMs: number | undefined;
  /** Attempts to ungate all pods by force, and when the last one was made. */
  forcedAttempts = 0;
  forcedAtMs = 0;
  monitoringAtMs: number | undefined;
  /** When and why the API server refused the DaemonSet of the exec format error monitor. */
  monitorRefused: { readonly atMs: number; readonly why: string } | undefined;
  monitorLeavingSinceMs: number | undefined;
  isMonitorRemoved = false;
  /** All ENoExecEvents were deleted, even unhandled ones. */
  isMonitorForced = false;
  /** The API server refuses our finalizer on our own Deployment, or it has no Deployment. */
  isOwnDeploymentRefused = false;
  isOwnDeploymentReleased = false;
  /** The taints were removed before the end, as far as possible. */
  areTaintsLifted = false;
  failures = 0;
  /** No reconcile before this time: backoff after a failure, or after another client changed our objects. */
  restUntilMs = 0;
  areFinalizersRefused = false;
  /** Set once our installation is being deleted, which is final. */
  ending: "uninstalling" | "left" | undefined;
  /** The last write of the webhook configuration: its JSON, time, and count in quick succession. */
  #repair = { wanted: "", atMs: 0, count: 0 };

  /** Counts a repair. Our own change resets the count. */
  noteRepair(wanted: string, nowMs: number): void {
    const { wanted: before, atMs, count } = this.#repair;
    const again = wanted === before && nowMs - atMs < CONFLICT_WINDOW_MS;
    this.#repair = { wanted, atMs: nowMs, count: again ? count + 1 : 1 };
  }

  /** The pause in favor of another writer (ms); 0 without a conflict. */
  conflictBackoffMs(nowMs: number): number {
    const { atMs, count } = this.#repair;
    if (count <= FREE_REPAIRS || nowMs - atMs >= CONFLICT_WINDOW_MS) return 0;
    return backoffMs(count - FREE_REPAIRS, { baseMs: 500, capMs: 15_000 });
  }
}
