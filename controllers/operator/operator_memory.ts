// The operator's state between reconciles, in monotonic time. Lost with the leadership.

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
  /** The API server refuses our finalizer on our own Deployment, or there is no such Deployment. */
  isOwnDeploymentRefused = false;
  isOwnDeploymentReleased = false;
  /** The taints were removed before the end, as far as possible. */
  areTaintsLifted = false;
  failures = 0;
  /** No reconcile before this time: backoff after a failure, or a correction that another client may undo. */
  restUntilMs = 0;
  areFinalizersRefused = false;
  /** Set once our installation is being deleted, which is final. */
  ending: "uninstalling" | "left" | undefined;
}
