// The texts of notifications. A delayed upgrade that will be tried again says "retry": the policy service keeps only
// the text beside its own state, and reads from this word which of its states was meant.
import { unreachable } from "../../../parsed.ts";
import type { History, NotificationState } from "../types/plan.ts";

export interface DescriptionContext {
  readonly history: History;
  readonly upgradeAt: string;
  /** What a health check found, or what made an upgrade fail that had begun; only for the states that are about one. */
  readonly findings: string;
}

export function describeState(state: NotificationState, { history, upgradeAt, findings }: DescriptionContext): string {
  const { version } = history;
  switch (state) {
    case "StateStarted":
      return history.profile === "type"
        ? `The upgrade of the cluster to ${version} has started.`
        : `The migration of the cluster to the multi-architecture payload of ${version} has started.`;
    case "StateCompleted":
      return history.profile === "type"
        ? `The cluster has been upgraded to ${version}.`
        : `The cluster has been migrated to the multi-architecture payload of ${version}.`;
    case "StateDelayed":
      return `The upgrade to ${version} is delayed: ${delayedBecause(history)}. It will retry until its time is over.`;
    case "StateFailed":
      return describeFailure({ history, upgradeAt, findings });
    case "StateScaleSkipped":
      return `The upgrade to ${version} goes on without temporary workers: there is no MachineSet to clone.`;
    case "StateSkipped":
      return `The upgrade to ${version} goes on without temporary workers: they were not ready in time.`;
    case "StatePreHealthCheckSL":
      return `The upgrade to ${version} is planned for ${upgradeAt}. Checks found what may delay it: ${findings}.`;
    case "StateHealthCheckSL":
      return `Checks before the upgrade to ${version} found: ${findings}.`;
    case "StateControlPlaneStartedSL":
      return `The upgrade of the control plane to ${version} has started.`;
    case "StateControlPlaneFinishedSL":
      return `The control plane is at ${version}. The worker nodes follow.`;
    case "StateWorkerPlaneFinishedSL":
      return `The worker nodes are at ${version}.`;
    case "StateMultiArchCapable":
      return `The payload of ${version} is for several architectures now: nodes of other architectures can be added. ` +
        "There is no way back to a payload for one architecture.";
    case "StateMigrationStuck":
      return `The migration to the multi-architecture payload of ${version} does not proceed: ${findings}. ` +
        "It is not reverted by itself.";
    default:
      return unreachable(state);
  }
}

function describeFailure({ history, upgradeAt, findings }: DescriptionContext): string {
  if (findings !== "") return `The upgrade to ${history.version} was given up: ${findings}.`;
  return `The upgrade to ${history.version}, planned for ${upgradeAt}, did not begin in time and was given up: ` +
    `${failedBecause(history)}. Nothing was upgraded.`;
}

/** By the step that is open. */
const WHY: Readonly<Record<string, string>> = {
  ClusterHealthyBeforeUpgrade: "the cluster is not healthy: critical alerts fire, or operators are degraded",
  ExternalDependenciesAvailable: "a service that the upgrade depends on does not answer",
  ComputeCapacityReserved: "temporary workers are not ready",
};
const DEFAULT_WHY = "a step before it has not been completed";

function delayedBecause(history: History): string {
  return WHY[openStep(history)?.type ?? ""] ?? DEFAULT_WHY;
}

function failedBecause(history: History): string {
  const open = openStep(history);
  if (open?.type === "IsClusterUpgradable") return open.message;
  return WHY[open?.type ?? ""] ?? DEFAULT_WHY;
}

/** The first condition that is False: conditions have the latest step first. */
function openStep({ conditions }: History): History["conditions"][number] | undefined {
  return conditions.find(({ status }) => status === "False");
}
