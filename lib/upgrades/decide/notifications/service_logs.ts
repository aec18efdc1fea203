// Entries of the cluster manager's service log: one fixed summary for each state that has one. Pure.
import type { NotificationState } from "../types/plan.ts";

export interface ServiceLogText {
  readonly summary: string;
  /** Whether it pages its readers. */
  readonly references: readonly string[];
}

const HEALTH_REFERENCE = "https://access.redhat.com/solutions/7081505";

const TEXTS: Readonly<Partial<Record<NotificationState, ServiceLogText>>> = {
  StateHealthCheckSL: { summary: "Cluster upgrade health check failed", references: [HEALTH_REFERENCE] },
  StatePreHealthCheckSL: { summary: "Health check before the cluster upgrade failed", references: [HEALTH_REFERENCE] },
  StateControlPlaneStartedSL: { summary: "Control plane upgrade started", references: [] },
  StateControlPlaneFinishedSL: { summary: "Control plane upgrade completed", references: [] },
  StateWorkerPlaneFinishedSL: { summary: "Worker nodes upgrade completed", references: [] },
};

export const SERVICE_LOG = {
  serviceName: "RedHat Managed Upgrade Notifications",
  logType: "Cluster Updates",
  severity: "Info",
} as const;

export function serviceLogOf(state: NotificationState): ServiceLogText | undefined {
  return Object.hasOwn(TEXTS, state) ? TEXTS[state] : undefined;
}
