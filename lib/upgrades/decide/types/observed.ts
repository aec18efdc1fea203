// Everything that one reconcile of an upgrade reads. Most is read only if a step requests it, and only once.
import type { MachineConfigPool } from "../../../vocabulary/machines.ts";
import type {
  Advisories,
  CapacityLeft,
  CapacityState,
  ClusterOperator,
  ClusterVersion,
  NotReadyNode,
  OfferedRelease,
  OsImageState,
  Payload,
  PolicyRefresh,
  Silence,
  SmokeState,
} from "./cluster.ts";
import type { OperatorConfig } from "./operator_config.ts";
import type { HistoryEntry, UpgradeConfig } from "./plan.ts";

export type Observation<T> =
  | { readonly kind: "observed"; readonly value: T }
  /** `why` is for people and holds no secret. */
  | { readonly kind: "unknown"; readonly why: string };

export interface Readings {
  readonly clusterOperators: readonly ClusterOperator[];
  readonly pools: readonly MachineConfigPool[];
  readonly buildingPools: ReadonlySet<string>;
  /** Nodes that were not Ready when they were read last, in the order of their names. */
  readonly notReadyNodes: readonly NotReadyNode[];
  /** By pool, for pools whose configuration has changed since before the migration. */
  readonly osImages: ReadonlyMap<string, OsImageState>;
  /** `kubernetes.io/arch` of the control plane nodes, without duplicates. */
  readonly controlPlaneArchitectures: readonly string[];
  /** Only silences by `managed-upgrade-operator`. Some may have expired. */
  readonly silences: readonly Silence[];
  readonly capacity: CapacityState;
  readonly capacityLeft: CapacityLeft;
  readonly health: readonly HealthResult[];
  readonly healthAfter: readonly HealthResult[];
  /** Dependencies that do not answer, each with the reason. */
  readonly dependencies: readonly string[];
  /**
   * The payload that the target leads to: `desired.image`, or that of the update graph for version and architecture.
   */
  readonly payload: Payload;
  readonly graph: readonly OfferedRelease[];
  readonly policy: PolicyRefresh;
  readonly smoke: SmokeState;
  /** Reported, never blocking: workloads, `managementState` of the image registry, import modes of ImageStreams. */
  readonly advisories: Advisories;
  /** Paging alerts that fired between start and end of the upgrade, sorted. */
  readonly alertsDuring: readonly string[];
}

export type ReadingName = keyof Readings;

/** One reader for each reading. It rejects with the reason when it cannot read. */
export type Readers = { readonly [Name in ReadingName]: () => Promise<Readings[Name]> };

/** What every decision about an upgrade reads. */
export interface UpgradeFacts {
  readonly plan: UpgradeConfig;
  readonly config: OperatorConfig;
  readonly clusterVersion: ClusterVersion;
}

/** What a step reads: the facts, the history entry of the target as it is, and what was read so far. */
export interface Observed extends UpgradeFacts {
  readonly entry: HistoryEntry;
  readonly read: { readonly [Name in ReadingName]?: Observation<Readings[Name]> };
}

export type HealthCheckId =
  | "CriticalAlerts"
  | "ClusterOperators"
  | "CapacityReservation"
  | "NodeUnschedulable"
  | "NodeUnschedulableTaint"
  | "PDB";

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

/** `reasons` has a value for every reason that the check decides, so that a success clears earlier failures. */
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
