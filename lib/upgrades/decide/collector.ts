// The samples that follow from an UpgradeConfig's status. Times are in Unix seconds.
import { CONDITION_METRICS } from "../names.ts";
import { findCondition } from "../../vocabulary/condition.ts";
import { historyEntryOf } from "./status_changes.ts";
import { currentVersionOf } from "./release/target.ts";
import type { ClusterVersion } from "./types/cluster.ts";
import type { CollectedSample } from "./types/effects.ts";
import type { HistoryEntry, NotificationState, StepCondition, UpgradeConfig } from "./types/plan.ts";
import { parseTime } from "../../vocabulary/time.ts";

export function collect(plan: UpgradeConfig, clusterVersion: ClusterVersion): readonly CollectedSample[] {
  const { desired } = plan.spec;
  const entry = historyEntryOf(plan.status, desired);
  const current = currentVersionOf(clusterVersion) ?? clusterVersion.desired.version;
  // The version that the upgrade leads away from, also once the control plane has the new one.
  const version = current === desired.version ? entry?.precedingVersion ?? current : current;
  const labels = { version, desired_version: desired.version };
  const spec = specSamples(plan, { ...labels, phase: entry?.phase ?? "New" });
  if (entry === undefined) return spec;
  return [
    ...spec,
    ...statusSamples(entry, { ...labels, phase: entry.phase }),
    ...conditionSamples(entry, { ...labels, upgradeconfig_name: plan.name }),
    ...stageSamples(entry, {
      _id: clusterVersion.clusterId,
      upgradeconfig_name: plan.name,
      version: desired.version,
    }),
    ...notificationSamples(entry, plan),
  ];
}

type Labels = Readonly<Record<string, string>>;

function specSamples({ spec }: UpgradeConfig, labels: Labels): readonly CollectedSample[] {
  const { phase: _phase, ...versions } = labels;
  const timeout = spec.pdbForceDrainTimeoutMinutes;
  return [
    ...timed("managed_upgrade_upgrade_scheduled", labels, spec.upgradeAt),
    { name: "managed_upgrade_upgrade_pdb_timeout_minutes", labels: versions, value: timeout },
  ];
}

function statusSamples({ startTime, completeTime }: HistoryEntry, labels: Labels): readonly CollectedSample[] {
  return [
    ...timed("managed_upgrade_upgrade_start_timestamp", labels, startTime),
    ...timed("managed_upgrade_upgrade_complete_timestamp", labels, completeTime),
  ];
}

function conditionSamples({ conditions }: HistoryEntry, labels: Labels): readonly CollectedSample[] {
  return conditions.filter(({ type }) => Object.hasOwn(CONDITION_METRICS, type)).flatMap((condition) =>
    timed(
      `managed_upgrade_condition_${CONDITION_METRICS[condition.type]}`,
      { ...labels, condition: condition.status },
      timeOf(condition),
    )
  );
}

function timeOf({ status, startTime, completeTime }: StepCondition): string | undefined {
  return status === "True" ? completeTime : startTime;
}

/** The notification that marks each stage, which is sent once, and the step whose end counts without it. */
const STAGES: Readonly<Record<string, readonly [NotificationState, string]>> = {
  upgrade_started: ["StateStarted", "StartedNotificationSent"],
  upgrade_completed: ["StateCompleted", "CompletedNotificationSent"],
  controlplane_upgrade_started: ["StateControlPlaneStartedSL", "UpgradeCommenced"],
  controlplane_upgrade_completed: ["StateControlPlaneFinishedSL", "ControlPlaneUpgraded"],
  workernode_upgrade_started: ["StateControlPlaneFinishedSL", "ControlPlaneUpgraded"],
  workernode_upgrade_completed: ["StateWorkerPlaneFinishedSL", "WorkerNodesUpgraded"],
};

/** When each stage was reached (RFC 3339), by the status, so that a restart changes nothing; undefined: not yet. */
function stageTimesOf(entry: HistoryEntry): Readonly<Record<string, string | undefined>> {
  const times = Object.entries(STAGES).map(([stage, [state, type]]) => {
    const sent = entry.notifications.find((one) => one.state === state);
    return [stage, sent?.sentTime ?? findCondition(entry.conditions, type)?.completeTime] as const;
  });
  return Object.fromEntries(times);
}

/** A failed upgrade has no start any more, so that it is not taken for one that still runs. */
function stageSamples(entry: HistoryEntry, labels: Labels): readonly CollectedSample[] {
  const stages = Object.entries(stageTimesOf(entry));
  return stages.filter(([stage]) => stage !== "upgrade_started" || entry.phase !== "Failed")
    .flatMap(([stage, time]) => timed(`upgradeoperator_${stage}_timestamp`, labels, time));
}

function notificationSamples(entry: HistoryEntry, { name: config, spec }: UpgradeConfig): readonly CollectedSample[] {
  if (entry.phase === "Failed") return [];
  return entry.notifications.map(({ state }) => ({
    name: "upgradeoperator_upgrade_notification",
    labels: { upgradeconfig_name: config, event: state, version: spec.desired.version },
    value: 1,
  }));
}

function timed(name: string, labels: Labels, time: string | undefined): readonly CollectedSample[] {
  const timeMs = parseTime(time);
  return timeMs === undefined ? [] : [{ name, labels, value: Math.floor(timeMs / 1_000) }];
}
