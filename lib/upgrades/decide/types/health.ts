// What a health check found.

export type HealthCheckId =
  | "CriticalAlerts"
  | "ClusterOperators"
  | "CapacityReservation"
  | "NodeUnschedulable"
  | "NodeUnschedulableTaint"
  | "PDB";

/** Values of the label `reason` of `upgradeoperator_healthcheck_failed`. */
export type HealthReason =
  | "healthcheck_query_failed"
  | "critical_alerts_firing"
  | "cluster_operator_status_failed"
  | "cluster_operators_degraded"
  | "default_worker_machinepool_not_found"
  | "cluster_node_query_failed"
  | "cluster_node_manually_cordoned"
  | "cluster_node_taint_unschedulable"
  | "pdb_query_failed"
  | "cluster_invalid_pdb_configuration"
  | "cluster_invalid_pdb"
  | "dvo_client_creation_failed"
  | "dvo_metrics_query_failed";

/** One result. `reasons` has a value for every reason that this check decides, so that a success clears what failed before. */
export type HealthResult =
  & {
    readonly check: HealthCheckId;
    readonly reasons: Readonly<Partial<Record<HealthReason, 0 | 1>>>;
  }
  & (
    | { readonly kind: "passed" }
    | {
      readonly kind: "failed";
      /** As in the notification: `NodeUnschedulableHealthcheckFailed:(n1,n2)`. */
      readonly token: string;
      readonly message: string;
    }
  );
