// The list of alerts: one row each. manifests/monitoring/prometheus_rule.yaml is generated from it. The first two, and the ones
// on exec format errors but for "Unhandled", have the MTO's names.

/** An alert. The expression is PromQL over this service's own metrics. */
export interface Alert {
  /** Its name; automation and runbooks key on it. */
  readonly name: string;
  /** PromQL. */
  readonly expression: string;
  /** How long the expression must hold: `5m`. */
  readonly forDuration: string;
  /** `critical`: an administrator must act at once. */
  readonly severity: "critical" | "warning" | "info";
  /** One sentence: what is wrong. */
  readonly summary: string;
  /** What it means for pods, and numbers. */
  readonly description: string;
}

/** The file of this repository in which each alert has its section, named after it in lower case. */
export const RUNBOOKS_FILE = "manifests/monitoring/runbooks.md";

/** All alerts, in the order of the manifest. */
export const ALERTS: readonly Alert[] = [
  {
    name: "PodPlacementControllerDown",
    expression: "absent(archway_leader == 1)",
    forDuration: "1m",
    severity: "critical",
    summary: "No replica of Archway decides about gated pods.",
    description:
      "Nobody has held the Lease archway.multiarch.openshift.io for a minute. New pods are no longer gated; those that are gated are released at their deadline without being placed.",
  },
  {
    name: "PodPlacementWebhookDown",
    expression: 'absent(up{job="archway-metrics"} == 1)',
    forDuration: "5m",
    severity: "warning",
    summary: "No replica of Archway answers.",
    description:
      "No replica has been scraped for five minutes. New pods are created ungated and may be scheduled onto nodes that their images do not support.",
  },
  {
    name: "ArchwayGatingStopped",
    expression: "max by (pod) (archway_gating) == 0",
    forDuration: "2m",
    severity: "warning",
    summary: "Archway has stopped gating pods.",
    description:
      "Replica {{ $labels.pod }} no longer gates pods, because no leader renews the Lease, or the leader cannot watch or release pods. Only pods whose images are known are still placed.",
  },
  {
    name: "ArchwaySplitLeadership",
    expression: "sum(archway_leader) > 1",
    forDuration: "1m",
    severity: "warning",
    summary: "More than one replica of Archway believes that it leads.",
    description:
      "{{ $value }} replicas report that they hold the Lease. Decisions are guarded, so pods stay right, but work is done twice.",
  },
  {
    name: "ArchwayPodsStayGated",
    expression:
      "min_over_time(max(mto_ppo_pods_gated)[5m:30s]) > 0 and sum(increase(archway_decisions_total[5m])) == 0",
    forDuration: "1m",
    severity: "critical",
    summary: "Gated pods are not decided.",
    description: "For five minutes there have been gated pods, and not one decision.",
  },
  {
    name: "ArchwayAdmissionsFailOpen",
    expression:
      'sum(increase(apiserver_admission_webhook_fail_open_count{name="pod-placement-scheduling-gate.multiarch.openshift.io"}[10m])) > 0',
    forDuration: "5m",
    severity: "warning",
    summary: "The API server creates pods without asking Archway.",
    description:
      "{{ $value | humanize }} calls of the pod webhook failed in ten minutes; those pods were created unconstrained.",
  },
  {
    name: "ArchwayWebhookSlow",
    expression: "histogram_quantile(0.99, sum by (le) (rate(mto_ppo_wh_response_time_seconds_bucket[10m]))) > 0.5",
    forDuration: "10m",
    severity: "warning",
    summary: "Archway answers admissions slowly.",
    description: "One admission in a hundred takes more than half a second; the API server gives up after five.",
  },
  {
    name: "ArchwayInspectionsFail",
    expression:
      "sum(rate(mto_ppo_ctrl_failed_image_inspection_total[15m])) / sum(rate(mto_ppo_ctrl_time_to_inspect_image_seconds_count[15m])) > 0.25",
    forDuration: "15m",
    severity: "warning",
    summary: "Many images cannot be inspected.",
    description:
      "{{ $value | humanizePercentage }} of image inspections fail; their pods get the fallback architecture or go unconstrained.",
  },
  {
    name: "ArchwayRegistryUnavailable",
    expression: "max by (host) (archway_registry_circuit_open) == 1",
    forDuration: "10m",
    severity: "warning",
    summary: "A registry keeps failing.",
    description: "Requests to {{ $labels.host }} have been held back for ten minutes.",
  },
  {
    name: "ArchwayRegistryQuotaLow",
    expression: "min by (host) (archway_registry_quota_remaining) < 10",
    forDuration: "5m",
    severity: "warning",
    summary: "A registry's quota is nearly used up.",
    description: "{{ $labels.host }} says that {{ $value }} requests are left in its window.",
  },
  {
    name: "ArchwayEventsDropped",
    expression: "sum(increase(archway_events_dropped_total[15m])) > 0",
    forDuration: "15m",
    severity: "info",
    summary: "Archway could not report all it did.",
    description: "{{ $value | humanize }} events were dropped in fifteen minutes. Placement is not affected.",
  },
  {
    name: "ArchwayTaintsStandStill",
    expression:
      'max(archway_arch_taint_nodes{state="left"}) > 0 and sum(increase(archway_arch_taint_writes_total[15m])) == 0',
    forDuration: "15m",
    severity: "warning",
    summary: "Some nodes do not get their architecture taint.",
    description:
      "For fifteen minutes {{ $value }} nodes have been without their taint, and nothing was written. Pods may run there that do not tolerate it.",
  },
  {
    name: "ArchwayTaintsShutPodsOut",
    expression: 'max(archway_arch_taint_lacking_pods) > 0 and max(archway_arch_taint_nodes{state="tainted"}) > 0',
    forDuration: "5m",
    severity: "warning",
    summary: "Pods lack the toleration of an architecture taint.",
    description: "{{ $value }} pods have lacked a toleration for five minutes; those that are pending find no node.",
  },
  {
    name: "ArchwayTaintsFailedOpen",
    expression: 'sum(increase(archway_arch_taint_writes_total{change="failOpen"}[15m])) > 0',
    forDuration: "0m",
    severity: "critical",
    summary: "Architecture taints were lifted, because no replica of Archway leads.",
    description:
      "{{ $value | humanize }} nodes lost their taint in fifteen minutes. Pods may be scheduled where their images do not run, until a replica leads.",
  },
  {
    name: "ExecFormatErrorsDetected",
    expression: "sum(increase(archway_exec_format_errors_total[6h])) > 0",
    forDuration: "1m",
    severity: "critical",
    summary: "Containers run programs of another architecture.",
    description:
      "{{ $value | humanize }} containers were reported in six hours that were to run a program of another architecture than their node has.",
  },
  {
    name: "ExecFormatErrorsUnhandled",
    expression: "sum(increase(mto_enoexecevents_invalid_total[15m])) > 0",
    forDuration: "15m",
    severity: "warning",
    summary: "Reports of exec format errors cannot be handled.",
    description: "{{ $value | humanize }} attempts to handle an ENoExecEvent failed in fifteen minutes.",
  },
  {
    name: "ExecFormatErrorDaemonDown",
    expression: 'max by (namespace) (kube_daemonset_status_number_unavailable{daemonset="enoexec-event-daemon"}) > 0',
    forDuration: "20m",
    severity: "warning",
    summary: "Some nodes are not watched for exec format errors.",
    description: "{{ $value }} daemons have not been available for twenty minutes.",
  },
  // Of upgrades. What must be seen while one runs is critical: its own silences cover warnings of the platform's namespaces.
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
    description: "The upgrade of {{ $labels.upgradeconfig_name }} failed before the cluster was asked for it.",
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
    expression: "time() - max by (upgradeconfig_name) (upgradeoperator_upgradeconfig_sync_timestamp) > 4 * 3600",
    forDuration: "15m",
    severity: "warning",
    summary: "The policy source of upgrades cannot be asked.",
    description:
      "It was last asked with success {{ $value | humanizeDuration }} ago. No upgrade begins before it answers again.",
  },
];
