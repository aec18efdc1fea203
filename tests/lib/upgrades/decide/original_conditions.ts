// The conditions that the Managed Upgrade Operator writes of an upgrade whose control plane it has begun.

/** The steps that it has done then, the last first. */
export const DONE: readonly string[] = [
  "UpgradeCommenced",
  "ControlPlaneMaintenanceWindowCreated",
  "ComputeCapacityReserved",
  "ExternalDependenciesAvailable",
  "ClusterHealthyBeforeUpgrade",
  "IsClusterUpgradable",
  "StartedNotificationSent",
];

/** The one of the step that it is at, and those of {@link DONE}; all its times are this one (RFC 3339). */
export function originalConditions(began: string): readonly Readonly<Record<string, string>>[] {
  const times = { startTime: began, lastProbeTime: began, lastTransitionTime: began };
  const done = DONE.map((type) => ({
    ...{ type, status: "True", ...times, completeTime: began },
    ...{ reason: `${type} done`, message: `${type} is completed` },
  }));
  const type = "ControlPlaneUpgraded";
  const next = { type, status: "False", ...times, reason: `${type} not done`, message: `${type} still in progress` };
  return [next, ...done];
}
