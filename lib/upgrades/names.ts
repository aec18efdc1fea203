// Names of upgrades. Those that Archway shares with the Managed Upgrade Operator (MUO) and OpenShift are exactly
// theirs.

export const Upgrades = {
  namespace: "openshift-managed-upgrade-operator",
  /** The Lease of the MUO: while the MUO or Archway holds it, the other does not act. */
  lease: "managed-upgrade-operator-lock",
  config: "managed-upgrade-config",
  configMapName: "managed-upgrade-operator-config",
  configMapKey: "config.yaml",
  /** `createdBy` of silences, and `source.component` of events. */
  eventSource: "managed-upgrade-operator",
} as const;

export const PlanWebhook = {
  configuration: "archway-upgrades",
  service: "archway-upgrades-webhook",
  path: "/validate-upgrade-managed-openshift-io-v1alpha1-upgradeconfig",
} as const;

export const CLUSTER_VERSION_NAME = "version";
/** On a rendered MachineConfig whose `osImageURL` a user's MachineConfig sets. */
export const IMAGE_OVERRIDDEN_ANNOTATION = "machineconfiguration.openshift.io/os-image-url-overridden";

export const MachineName = {
  namespace: "openshift-machine-api",
  poolLabel: "hive.openshift.io/machine-pool",
  workerPool: "worker",
  /** On MachineSets and Machines that are there for an upgrade alone. */
  upgradeLabel: "upgrade.managed.openshift.io",
  /** On the one machine of another architecture that proves a migration. */
  smokeLabel: "archway.dev/upgrade-smoke",
} as const;

export const NodeKey = {
  /** What the machine config operator does with a node; `Working` while it updates it. */
  configState: "machineconfiguration.openshift.io/state",
  currentConfig: "machineconfiguration.openshift.io/currentConfig",
  desiredConfig: "machineconfiguration.openshift.io/desiredConfig",
  unschedulableTaint: "node.kubernetes.io/unschedulable",
  masterLabel: "node-role.kubernetes.io/master",
  workerLabel: "node-role.kubernetes.io/worker",
  infraLabel: "node-role.kubernetes.io/infra",
} as const;

/** The metric `managed_upgrade_condition_…` of a step, by the type of the step's condition. */
export const CONDITION_METRICS: Readonly<Record<string, string>> = {
  StartedNotificationSent: "notification_start_timestamp",
  ClusterHealthyBeforeUpgrade: "health_check_timestamp",
  ExternalDependenciesAvailable: "external_dep_check_timestamp",
  ComputeCapacityReserved: "capacity_added_timestamp",
  ControlPlaneMaintenanceWindowCreated: "control_plane_maint_start_timestamp",
  UpgradeCommenced: "control_plane_upgrade_start_timestamp",
  ControlPlaneUpgraded: "control_plane_completion_timestamp",
  ControlPlaneMaintenanceWindowRemoved: "control_plane_maint_removed_timestamp",
  WorkersMaintenanceWindowCreated: "workers_maint_start_timestamp",
  WorkerNodesUpgraded: "workers_upgraded_timestamp",
  ComputeCapacityRemoved: "capacity_removed_timestamp",
  WorkersMaintenanceWindowRemoved: "workers_maint_removed_timestamp",
  ClusterHealthyAfterUpgrade: "post_upgrade_healthcheck_timestamp",
  CompletedNotificationSent: "notification_complete_timestamp",
};
