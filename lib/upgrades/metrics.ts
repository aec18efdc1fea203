// The metrics of upgrades, with the names of the Managed Upgrade Operator (MUO), on which alerts key. As there, labels
// have open sets (versions, nodes, the cluster's id): there is one upgrade at a time.
import type { Registry } from "prom-client";
import { entryOf } from "../json.ts";
import { type GaugeRow, type GaugeTable, openGauges, openMetrics } from "../metrics.ts";
import { CONDITION_METRICS, Upgrades } from "./names.ts";
import type { CollectedSample, UpgradeMetric } from "./decide/types/effects.ts";
import type { ConfigReading } from "./decide/types/operator_config.ts";

const NAME = "upgradeconfig_name";
const VERSIONED = [NAME, "version"];

type OwnMetric = "upgradeoperator_upgradeconfig_sync_timestamp" | "archway_upgrade_policy_interval_seconds";

interface SetGauge {
  readonly type: "gauge";
  /** `ephemeral`: removed with the UpgradeConfig; `failure`: also when an upgrade fails. */
  readonly group: "ephemeral" | "failure" | "persistent";
  readonly labels: readonly string[];
  readonly help: string;
}

const SET_GAUGES: Readonly<Record<UpgradeMetric | OwnMetric, SetGauge>> = {
  upgradeoperator_upgradeconfig_validation_failed: failure(
    "1 while the UpgradeConfig cannot be carried out as it is written.",
  ),
  upgradeoperator_scaling_failed: failure("1 when spare capacity was not there in time."),
  upgradeoperator_controlplane_timeout: failure("1 while the control plane takes longer than it may.", VERSIONED),
  upgradeoperator_worker_timeout: failure("1 while workers take longer than their maintenance window.", VERSIONED),
  upgradeoperator_healthcheck_failed: failure(
    "1 for each reason for which a health check of the upgrade fails.",
    [NAME, "state", "version", "reason"],
  ),
  upgradeoperator_node_drain_timeout: failure("1 while a node is drained for longer than it may take.", ["node_name"]),
  archway_upgrade_migration_stuck: failure(
    "1 while a migration to a payload for several architectures is refused or fails.",
    VERSIONED,
  ),
  upgrade_notification_failed: failure("1 while a notification that is waited for could not be sent.", [NAME, "event"]),
  upgradeoperator_upgrade_window_breached: ephemeral("1 when an upgrade did not begin within its window."),
  upgradeoperator_upgradeconfig_sync_timestamp: ephemeral(
    "When the policy source was last asked with success (Unix seconds).",
  ),
  archway_upgrade_policy_interval_seconds: ephemeral(
    "How often the policy source is to be asked, as configured when it was last asked.",
  ),
  upgradeoperator_upgrade_result: {
    type: "gauge",
    group: "persistent",
    labels: [NAME, "preceding_version", "stream", "version", "alerts"],
    help: "1 when no paging alert fired during the upgrade, else 0.",
  },
};

function failure(help: string, labels: readonly string[] = [NAME]): SetGauge {
  return { type: "gauge", group: "failure", labels, help };
}

function ephemeral(help: string): SetGauge {
  return { type: "gauge", group: "ephemeral", labels: [NAME], help };
}

const STAGES: Readonly<Record<string, string>> = {
  upgrade_started: "the upgrade started",
  upgrade_completed: "the upgrade was complete",
  controlplane_upgrade_started: "the update of the control plane was asked for",
  controlplane_upgrade_completed: "the control plane was updated",
  workernode_upgrade_started: "the update of the workers started",
  workernode_upgrade_completed: "the workers were updated",
};

/** What follows from the status; undefined: it could not be read. */
type Samples = readonly CollectedSample[] | undefined;

const OF_UPGRADE = ["version", "desired_version", "phase"];

/** Gauges that follow from the status at each scrape, so that a restart changes none of them. */
const SCRAPED_GAUGES: GaugeTable<Samples> = Object.fromEntries([
  sampled("upgradeoperator_upgrade_notification", [NAME, "event", "version"], "1 for each notification that was sent."),
  ...Object.entries(STAGES).map(([stage, what]) =>
    sampled(`upgradeoperator_${stage}_timestamp`, ["_id", NAME, "version"], `When ${what} (Unix seconds).`)
  ),
  sampled("managed_upgrade_upgrade_start_timestamp", OF_UPGRADE, "When the upgrade started (Unix seconds)."),
  sampled("managed_upgrade_upgrade_complete_timestamp", OF_UPGRADE, "When the upgrade was complete (Unix seconds)."),
  sampled("managed_upgrade_upgrade_scheduled", OF_UPGRADE, "When the upgrade is to start (Unix seconds)."),
  sampled(
    "managed_upgrade_upgrade_pdb_timeout_minutes",
    ["version", "desired_version"],
    "How long a PodDisruptionBudget may hold up a drain.",
  ),
  ...Object.entries(CONDITION_METRICS).map(([type, metric]) =>
    sampled(
      `managed_upgrade_condition_${metric}`,
      [NAME, "version", "desired_version", "condition"],
      `When the step ${type} was done, or started while it is not (Unix seconds).`,
    )
  ),
  ["managed_upgrade_collector_scrape_failed", {
    help: "1 when what is scraped could not be read; without a series otherwise.",
    read: (samples) => samples === undefined ? 1 : undefined,
  }],
]);

function sampled(metric: string, labels: readonly string[], help: string): readonly [string, GaugeRow<Samples>] {
  const read: GaugeRow<Samples>["read"] = (samples = []) =>
    samples.filter(({ name }) => name === metric).map((sample) => [sample.labels, sample.value]);
  return [metric, { help, labels, read }];
}

/** Gauges of how the settings were read last. */
export const SETTINGS_GAUGES: GaugeTable<ConfigReading["kind"]> = {
  archway_upgrade_settings_invalid: {
    help: "1 while the settings of upgrades are missing or wrong: no upgrade begins or goes on.",
    labels: [NAME],
    read: (kind) => kind === "unknown" ? [] : [[{ [NAME]: Upgrades.config }, Number(kind === "unparsable")]],
  },
};

export interface UpgradeMetrics {
  set(metric: UpgradeMetric | OwnMetric, labels: CollectedSample["labels"], value: number): void;
  clear(metric: UpgradeMetric | OwnMetric): void;
  clearGroup(group: "ephemeral" | "failure"): void;
  /** Replaces all samples that follow from the status. */
  setScraped(samples: Samples): void;
}

/** A gauge has no series before it is set, as with the MUO. */
export function openUpgradeMetrics(registry: Registry): UpgradeMetrics {
  const gauges = openMetrics(registry, SET_GAUGES);
  const setScraped = openGauges(registry, SCRAPED_GAUGES);
  setScraped([]);
  return {
    set: (metric, labels, value) => {
      const own = { ...labels, [NAME]: Upgrades.config };
      const known = SET_GAUGES[metric].labels.map((name) => [name, entryOf(own, name) ?? ""]);
      gauges[metric].set(Object.fromEntries(known), value);
    },
    clear: (metric) => gauges[metric].reset(),
    clearGroup: (group) => {
      for (const [metric, gauge] of Object.entries(gauges)) {
        if (["failure", group].includes(entryOf(SET_GAUGES, metric)?.group ?? "")) gauge.reset();
      }
    },
    setScraped,
  };
}
