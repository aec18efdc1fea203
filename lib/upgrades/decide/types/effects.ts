// The effects of steps, as data: they are applied in order after the decision.
import type { JsonObject } from "../../../json.ts";
import type { NotificationState } from "./plan.ts";

export type UpgradeMetric =
  | "upgradeoperator_upgradeconfig_validation_failed"
  | "upgradeoperator_scaling_failed"
  | "upgradeoperator_upgrade_window_breached"
  | "upgradeoperator_controlplane_timeout"
  | "upgradeoperator_worker_timeout"
  | "upgradeoperator_healthcheck_failed"
  | "upgradeoperator_node_drain_timeout"
  | "upgradeoperator_upgrade_result"
  | "upgrade_notification_failed"
  /** Ours: a migration that the cluster refuses, or that fails for longer than its time. */
  | "archway_upgrade_migration_stuck";

export interface CollectedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Notification {
  /** Every replica gives the same ID to one event of one plan, so that sinks send nothing twice. */
  readonly id: string;
  readonly state: NotificationState;
  readonly version: string;
  /** `spec.upgradeAt`, by which a policy source finds its policy. */
  readonly upgradeAt: string;
  readonly description: string;
}

export interface SilenceMatcher {
  readonly name: string;
  readonly pattern: string;
}

/** A silence to create, from now on. `createdBy` will be `managed-upgrade-operator`, which marks it as ours. */
export interface SilenceSpec {
  readonly comment: string;
  readonly matchers: readonly SilenceMatcher[];
  readonly endsAtMs: number;
}

export type Effect =
  | {
    readonly kind: "notify";
    readonly notification: Notification;
    readonly onFailure: "stop" | "log";
  }
  /** A JSON merge patch of the ClusterVersion `version`, guarded by the resourceVersion that was read. */
  | { readonly kind: "patchClusterVersion"; readonly patch: JsonObject; readonly resourceVersion: string }
  | { readonly kind: "createSilence"; readonly silence: SilenceSpec }
  | { readonly kind: "endSilence"; readonly id: string }
  | { readonly kind: "reserveCapacity" }
  /** Deletes the clones. `drain`: help their nodes to drain, as `spec.drain.mode` says. */
  | { readonly kind: "releaseCapacity"; readonly drain: "help" | "none" }
  | { readonly kind: "createSmokeMachine"; readonly template: string }
  | { readonly kind: "deleteSmokeMachine" }
  /** Has `openshift-file-integrity/osd-fileintegrity` initialised again. An absent object is an error. */
  | { readonly kind: "annotateFileIntegrity" }
  | { readonly kind: "setDesiredVersion"; readonly version: string }
  | {
    readonly kind: "setMetric";
    readonly metric: UpgradeMetric;
    /** Without `upgradeconfig_name`, which is added to all but `upgradeoperator_node_drain_timeout`. */
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }
  | { readonly kind: "clearMetric"; readonly metric: UpgradeMetric }
  /** Removes the series of all metrics that are about the plan (`ephemeral`) or about its failures (`failure`). */
  | { readonly kind: "clearMetrics"; readonly group: "ephemeral" | "failure" };
