// What the steps of an upgrade are called on its page, by stage.
import { entryOf } from "../lib/json.ts";

interface Stage {
  readonly stage: string;
  readonly ids: Readonly<Record<string, string>>;
}

export const STAGES: readonly Stage[] = [
  {
    stage: "Before",
    ids: {
      StartedNotificationSent: "Tell that it starts",
      IsClusterUpgradable: "Ask whether the cluster can be upgraded",
      ClusterHealthyBeforeUpgrade: "Check the cluster's health",
      ExternalDependenciesAvailable: "Reach what it depends on",
      PayloadSupportsArchitectures: "Find the payload's architectures",
      BaselineRecorded: "Record what runs now",
      ComputeCapacityReserved: "Add a machine for the pods that move",
    },
  },
  {
    stage: "Control plane",
    ids: {
      ControlPlaneMaintenanceWindowCreated: "Silence the alerts",
      UpgradeCommenced: "Request the version",
      ControlPlaneUpgraded: "Wait for the control plane",
      ControlPlaneMaintenanceWindowRemoved: "End the silences",
      ArchitectureVerified: "Check the architecture of what runs",
    },
  },
  {
    stage: "Workers",
    ids: {
      WorkersMaintenanceWindowCreated: "Silence the workers' alerts",
      WorkerNodesUpgraded: "Wait for all workers",
      ComputeCapacityRemoved: "Remove the added machine",
      WorkersMaintenanceWindowRemoved: "End the silences",
    },
  },
  {
    stage: "After",
    ids: {
      SecondaryArchitectureProven: "Run a pod on the other architecture",
      ClusterHealthyAfterUpgrade: "Check the cluster's health",
      PostUpgradeTasksCompleted: "Tidy up",
      CompletedNotificationSent: "Tell that it is complete",
    },
  },
];

const NAMES: Readonly<Record<string, string>> = Object.assign({}, ...STAGES.map(({ ids }) => ids));

export function nameOf(id: string): string {
  return entryOf(NAMES, id) ?? spaced(id);
}

/** `MultiArchCapable` as words: `Multi arch capable`. */
export function spaced(id: string): string {
  const words = id.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
