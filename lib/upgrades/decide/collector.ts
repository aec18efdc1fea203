// The samples that follow from an UpgradeConfig's status. Times are in Unix seconds.
import { CONDITION_METRICS } from "../names.ts";
import { findCondition } from "../../vocabulary/condition.ts";
import { historyEntryOf } from "./status_changes.ts";
import { currentVersionOf } from "./release/target.ts";
import type { ClusterVersion } from "./types/cluster.ts";
import type { CollectedSample } from "./types/effects.ts";
import { type HistoryEntry, isNotificationState, type NotificationState, type UpgradeConfig } from "./types/plan.ts";
import type { Labels } from "../../vocabulary/label_selector.ts";
import { parseTime } from "../../vocabulary/time.ts";

export function collectSamples(plan: UpgradeConfig, clusterVersion: ClusterVersion): readonly CollectedSample[] {
  const { desired } = plan.spec;
  const entry = historyEntryOf(plan.status, desired);
  const current = currentVersionOf(clusterVersion) ?? clusterVersion.desired.version;
  // The version that the upgrade leads away from, also once the control plane has the new one.
  const version = current === desired.version ? entry?.precedingVersion ?? current : current;
  const labels = { version, desired_version: desired.version };
  const ofPhase = { ...labels, phase: entry?.phase ?? "New" };
  const { upgradeAt, pdbForceDrainTimeoutMinutes: value } = plan.spec;
  const spec = [
    ...timed("managed_upgrade_upgrade_scheduled", ofPhase, upgradeAt),
    { name: "managed_upgrade_upgrade_pdb_timeout_minutes", labels, value },
  ];
  if (entry === undefined) return spec;
  return [
    ...spec,
    ...timed("managed_upgrade_upgrade_start_timestamp", ofPhase, entry.startTime),
    ...timed("managed_upgrade_upgrade_complete_timestamp", ofPhase, entry.completeTime),
    ...conditionSamples(entry, { ...labels, upgradeconfig_name: plan.name }),
    ...stageSamples(entry, {
      _id: clusterVersion.clusterId,
      upgradeconfig_name: plan.name,
      version: desired.version,
    }),
    ...notificationSamples(entry, plan),
  ];
}

function conditionSamples({ conditions }: HistoryEntry, labels: Labels): readonly CollectedSample[] {
  return conditions.filter(({ type }) => Object.hasOwn(CONDITION_METRICS, type)).flatMap((condition) =>
    timed(
      `managed_upgrade_condition_${CONDITION_METRICS[condition.type]}`,
      { ...labels, condition: condition.status },
      condition.status === "True" ? condition.completeTime : condition.startTime,
    )
  );
}

/** The notification that marks each stage, or the step whose end counts if none was sent. Both outlast a restart. */
const STAGES: Readonly<Record<string, readonly [NotificationState, string]>> = {
  upgrade_started: ["StateStarted", "StartedNotificationSent"],
  upgrade_completed: ["StateCompleted", "CompletedNotificationSent"],
  controlplane_upgrade_started: ["StateControlPlaneStartedSL", "UpgradeCommenced"],
  controlplane_upgrade_completed: ["StateControlPlaneFinishedSL", "ControlPlaneUpgraded"],
  workernode_upgrade_started: ["StateControlPlaneFinishedSL", "ControlPlaneUpgraded"],
  workernode_upgrade_completed: ["StateWorkerPlaneFinishedSL", "WorkerNodesUpgraded"],
};

/** Gives a failed upgrade no start, so that it is not taken for one that still runs. */
function stageSamples({ conditions, notifications, phase }: HistoryEntry, labels: Labels): readonly CollectedSample[] {
  return Object.entries(STAGES).flatMap(([stage, [state, type]]) => {
    if (stage === "upgrade_started" && phase === "Failed") return [];
    const sent = notifications.find((one) => one.state === state);
    const time = sent?.sentTime ?? findCondition(conditions, type)?.completeTime;
    return timed(`upgradeoperator_${stage}_timestamp`, labels, time);
  });
}

function notificationSamples(entry: HistoryEntry, { name: config, spec }: UpgradeConfig): readonly CollectedSample[] {
  if (entry.phase === "Failed") return [];
  return entry.notifications.filter(({ state }) => isNotificationState(state)).map(({ state }) => ({
    name: "upgradeoperator_upgrade_notification",
    labels: { upgradeconfig_name: config, event: state, version: spec.desired.version },
    value: 1,
  }));
}

function timed(name: string, labels: Labels, time: string | undefined): readonly CollectedSample[] {
  const timeMs = parseTime(time);
  return timeMs === undefined ? [] : [{ name, labels, value: Math.floor(timeMs / 1_000) }];
}
