// States of an upgrade as the cluster manager (OCM) names them, and which may follow which.
import * as z from "zod";
import { entryOf } from "../../../json.ts";
import type { NotificationState } from "../types/plan.ts";

export const StoredState = z.object({ value: z.string(), description: z.string().default("") });
export type StoredState = Readonly<z.output<typeof StoredState>>;

const VALUES: Readonly<Partial<Record<NotificationState, string>>> = {
  StateStarted: "started",
  StateCompleted: "completed",
  StateDelayed: "delayed",
  StateFailed: "failed",
  // The manager has no states of its own for these.
  StateScaleSkipped: "delayed",
  StateSkipped: "delayed",
};

export function ocmValueOf(state: NotificationState): string | undefined {
  return Object.hasOwn(VALUES, state) ? VALUES[state] : undefined;
}

const FINAL_STATES: readonly NotificationState[] = ["StateCompleted", "StateFailed"];

/** The states that may follow a stored one. `Skipped` may mean skipped capacity, so a delay may follow it. */
const FOLLOWING: Readonly<Record<string, readonly NotificationState[]>> = {
  Scheduled: ["StateStarted"],
  Started: ["StateScaleSkipped", "StateSkipped", "StateDelayed", ...FINAL_STATES],
  Delayed: ["StateSkipped", ...FINAL_STATES],
  Skipped: ["StateDelayed", "StateSkipped", ...FINAL_STATES],
};

export function ocmStateOf({ value, description }: StoredState): string {
  if (value === "delayed") return /retry/i.test(description) ? "Delayed" : "Skipped";
  return value.replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

export function mayFollow(stored: StoredState, next: NotificationState): boolean {
  const from = ocmStateOf(stored);
  const isSameText = stored.value === ocmValueOf(next);
  return entryOf(FOLLOWING, from)?.includes(next) === true && !(isSameText && from === "Started");
}

interface ServiceLogText {
  readonly summary: string;
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
