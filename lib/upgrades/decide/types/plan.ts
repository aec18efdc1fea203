// The UpgradeConfig as it is read: what is wanted, and the record of what was done. Times are milliseconds since the epoch,
// texts that may be absent are empty.
import type { JsonObject } from "../../../json.ts";

/** Which steps an upgrade takes. */
export type UpgradeType = "OSD" | "ARO";

/** Where the upgrade to one target stands. `Unknown` is only read, never written. */
export type Phase = "New" | "Pending" | "Upgrading" | "Upgraded" | "Failed" | "Unknown";

/** What the payload is to be made for: one architecture, as now, or several. */
export type TargetArchitecture = "" | "Multi";

/** The release that is wanted. Its identity is all of it: the version alone does not distinguish a migration from what is there. */
export interface DesiredRelease {
  readonly version: string;
  readonly channel: string;
  /** Pull specification with a digest; empty when the release is chosen by version. */
  readonly image: string;
  readonly architecture: TargetArchitecture;
}

/** What may be done to a pod that keeps a node from being drained in time. */
export const DRAIN_MODES = ["Observe", "Delete", "DeleteAndStripFinalizers"] as const;
export type DrainMode = typeof DRAIN_MODES[number];

/** Temporary workers. */
export interface CapacitySettings {
  /** `capacityReservation` of the original, unless `capacity.enabled` says otherwise. */
  readonly enabled: boolean;
  /** Patterns of further machine pools to clone; undefined: those of the operator's configuration. */
  readonly pools: readonly string[] | undefined;
  /** Undefined: that of the operator's configuration. */
  readonly timeoutMinutes: number | undefined;
  readonly onTimeout: "Continue" | "Fail";
}

/** A machine of another architecture, started and removed again to prove a migration. */
export interface SmokeSettings {
  /** Name of a MachineSet in `openshift-machine-api`, of the other architecture, that is cloned with one replica. */
  readonly machineSetTemplate: string;
  readonly timeoutMinutes: number;
}

/** `spec`. */
export interface UpgradeSpec {
  readonly desired: DesiredRelease;
  /** RFC 3339 as written; the scheduler parses it. */
  readonly upgradeAt: string;
  readonly pdbForceDrainTimeoutMinutes: number;
  readonly type: UpgradeType;
  readonly capacity: CapacitySettings;
  /** Nothing begins while it is set; once the update was requested it has no effect. */
  readonly suspend: boolean;
  /** Undefined when the field is absent: that of the settings, else `Observe`. */
  readonly drainMode: DrainMode | undefined;
  readonly smoke: SmokeSettings | undefined;
}

/** A condition of a history entry: one step, by its type. */
export interface StepCondition {
  /** Identity of the step. */
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastProbeMs?: number | undefined;
  readonly lastTransitionMs?: number | undefined;
  readonly startMs?: number | undefined;
  readonly completeMs?: number | undefined;
}

/** A condition of the whole object, as metav1.Condition. */
export interface PlanCondition {
  readonly type: "ConfigValid" | "DrainMode" | "MultiArchCapable" | "PoolsPaused" | "Suspended" | "Valid";
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionMs: number;
  readonly observedGeneration: number;
}

/** States that people and policy sources are notified of. */
export type NotificationState =
  | "StateStarted"
  | "StateCompleted"
  | "StateDelayed"
  | "StateFailed"
  | "StateScaleSkipped"
  | "StateSkipped"
  | "StateHealthCheckSL"
  | "StatePreHealthCheckSL"
  | "StateControlPlaneStartedSL"
  | "StateControlPlaneFinishedSL"
  | "StateWorkerPlaneFinishedSL"
  /** Ours: the end of a migration, with what is possible from now on and cannot be taken back. */
  | "StateMultiArchCapable"
  /** Ours: a migration that the cluster does not take, or that fails for longer than its time. */
  | "StateMigrationStuck";

/** A notification that was sent: it is never sent again for the same history entry. */
export interface SentNotification {
  readonly state: NotificationState;
  readonly sentMs: number;
}

/** A notification that not every sink has yet. */
export interface Delivery {
  readonly id: string;
  /** Names of the sinks that have it, and of those that got a request and cannot report whether they have. */
  readonly sinks: readonly string[];
}

/** What a migration must have changed, written down before it begins. */
export interface Baseline {
  /** Of the release payload. */
  readonly image: string;
  /** `operator-image` by ClusterOperator, of those that publish it. */
  readonly operatorImages: Readonly<Record<string, string>>;
  /** The rendered MachineConfig by MachineConfigPool, of those that have one. */
  readonly renderedConfigs: Readonly<Record<string, string>>;
}

/** One element of `status.history`: the upgrade to one target. */
export interface History {
  readonly version: string;
  /** Part of the key: a migration at the same version is an entry of its own. */
  readonly architecture: TargetArchitecture;
  readonly precedingVersion: string;
  readonly phase: Phase;
  /** The step most recently started first. */
  readonly conditions: readonly StepCondition[];
  readonly startMs?: number | undefined;
  readonly completeMs?: number | undefined;
  readonly workerStartMs?: number | undefined;
  readonly workerCompleteMs?: number | undefined;
  /** Which steps it takes, chosen once: those of `spec.type`, or those of a migration. */
  readonly profile: "type" | "multiarch-migration";
  readonly notifications: readonly SentNotification[];
  readonly baseline?: Baseline | undefined;
  /** Members that are not read here; written back as they are. */
  readonly other: JsonObject;
}

/** `status`. */
export interface UpgradeStatus {
  /** Newest first. */
  readonly history: readonly History[];
  readonly conditions: readonly PlanCondition[];
}

export interface UpgradeConfig {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly spec: UpgradeSpec;
  readonly status: UpgradeStatus;
  /** `status.deliveries`, which is written while notifications are sent, apart from the rest. */
  readonly deliveries: readonly Delivery[];
}
