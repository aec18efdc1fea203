// Alerts on upgrades. What must be seen while one runs is critical: its own silences cover warnings of the platform's namespaces.
import type { Alert } from "../cluster/alert.ts";

export const UPGRADE_ALERTS: readonly Alert[] = [
  {
    name: "ArchwayUpgradeInvalid",
    expression: "max by (upgradeconfig_name) (upgradeoperator_upgradeconfig_validation_failed) == 1",
    forDuration: "15m",
    severity: "warning",
    summary: "An upgrade cannot be carried out as it is written.",
    description:
      "UpgradeConfig {{ $labels.upgradeconfig_name }} has been refused for fifteen minutes: its time, version, channel or image is wrong, or the cluster does not offer the version.",
  },
  {
    name: "ArchwayUpgradeSettingsInvalid",
    expression: "max by (upgradeconfig_name) (archway_upgrade_settings_invalid) == 1",
    forDuration: "15m",
    severity: "critical",
    summary: "The settings of upgrades are missing or wrong.",
    description:
      "For fifteen minutes the ConfigMap managed-upgrade-operator-config is missing or wrong: no upgrade begins or goes on, and the other metrics of upgrades stand still.",
  },
  {
    name: "ArchwayUpgradeHealthChecksFail",
    expression: "max by (reason, version) (upgradeoperator_healthcheck_failed) == 1",
    forDuration: "15m",
    severity: "critical",
    summary: "A health check holds up an upgrade, or found the cluster ill after it.",
    description: "{{ $labels.reason }} has held for fifteen minutes at version {{ $labels.version }}.",
  },
  {
    name: "ArchwayUpgradeWindowMissed",
    expression: "max by (upgradeconfig_name) (upgradeoperator_upgrade_window_breached) == 1",
    forDuration: "1m",
    severity: "warning",
    summary: "An upgrade did not begin within its window.",
    description:
      "The upgrade of {{ $labels.upgradeconfig_name }} failed. The ClusterVersion was not touched; what was prepared is gone.",
  },
  {
    name: "ArchwayUpgradeCapacityMissing",
    expression: "max by (upgradeconfig_name) (upgradeoperator_scaling_failed) == 1",
    forDuration: "1m",
    severity: "warning",
    summary: "An upgrade goes on without spare capacity.",
    description: "The temporary workers of {{ $labels.upgradeconfig_name }} were not ready in time.",
  },
  {
    name: "ArchwayUpgradeControlPlaneSlow",
    expression: "max by (version) (upgradeoperator_controlplane_timeout) == 1",
    forDuration: "5m",
    severity: "critical",
    summary: "The update of the control plane takes longer than it may.",
    description: "The control plane is not at version {{ $labels.version }} after the time that was planned for it.",
  },
  {
    name: "ArchwayUpgradeWorkersSlow",
    expression: "max by (version) (upgradeoperator_worker_timeout) == 1",
    forDuration: "5m",
    severity: "critical",
    summary: "The update of the workers takes longer than it may.",
    description:
      "Workers are still being updated to version {{ $labels.version }}, and the silence of their window has ended.",
  },
  {
    name: "ArchwayUpgradeNodeDrainSlow",
    expression: "max by (node_name) (upgradeoperator_node_drain_timeout) == 1",
    forDuration: "5m",
    severity: "critical",
    summary: "A node is not drained in time.",
    description: "Pods on {{ $labels.node_name }} do not go, so that it cannot be updated.",
  },
  {
    name: "ArchwayUpgradeMigrationStuck",
    expression: "max by (version) (archway_upgrade_migration_stuck) == 1",
    forDuration: "5m",
    severity: "critical",
    summary: "The migration to several architectures does not come to an end.",
    description:
      "The cluster refuses the payload of version {{ $labels.version }} for several architectures, or has failed on it for longer than planned.",
  },
  {
    name: "ArchwayUpgradeNotificationsFail",
    expression: "max by (event) (upgrade_notification_failed) == 1",
    forDuration: "15m",
    severity: "critical",
    summary: "A notification of an upgrade cannot be sent.",
    description: "{{ $labels.event }} has not been sent for fifteen minutes; the step that sends it waits.",
  },
  {
    name: "ArchwayUpgradePolicyUnread",
    // The interval is the administrator's, and varies by a tenth; a failed attempt is repeated within an hour.
    expression:
      "time() - max by (upgradeconfig_name) (upgradeoperator_upgradeconfig_sync_timestamp) > 3 * 3600 + 1.1 * max by (upgradeconfig_name) (archway_upgrade_policy_interval_seconds)",
    forDuration: "15m",
    severity: "warning",
    summary: "The policy source of upgrades cannot be asked.",
    description:
      "It was last asked with success {{ $value | humanizeDuration }} ago. No upgrade begins before it answers again.",
  },
];
