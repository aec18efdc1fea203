// When the stages of an upgrade were reached. They follow from the status, so that a restart changes none.
import { conditionOf } from "./record.ts";
import type { History, NotificationState } from "./types/plan.ts";

/** Times of the stages; undefined for those not reached (ms). */
export interface Stamps {
  readonly upgradeStarted: number | undefined;
  readonly controlPlaneStarted: number | undefined;
  readonly controlPlaneCompleted: number | undefined;
  readonly workersStarted: number | undefined;
  readonly workersCompleted: number | undefined;
  readonly upgradeCompleted: number | undefined;
}

/** Reads them: from the notification of each stage, which is sent once, else from the condition of its step. */
export function stampsOf(history: History): Stamps {
  const stamp = (state: NotificationState, type: string): number | undefined =>
    history.notifications.find((sent) => sent.state === state)?.sentMs ?? conditionOf(history, type)?.completeMs;
  const controlPlaneCompleted = stamp("StateControlPlaneFinishedSL", "ControlPlaneUpgraded");
  return {
    upgradeStarted: stamp("StateStarted", "StartedNotificationSent"),
    controlPlaneStarted: stamp("StateControlPlaneStartedSL", "UpgradeCommenced"),
    controlPlaneCompleted,
    workersStarted: controlPlaneCompleted,
    workersCompleted: stamp("StateWorkerPlaneFinishedSL", "WorkerNodesUpgraded"),
    upgradeCompleted: stamp("StateCompleted", "CompletedNotificationSent"),
  };
}
