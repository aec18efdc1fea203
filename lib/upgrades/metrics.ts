// The metrics of upgrades, with the names of the Managed Upgrade Operator (MUO), on which alerts key. As there, labels
// have open sets (versions, nodes, the cluster's id): there is one upgrade at a time.
import { Gauge, type Registry } from "prom-client";
import { entryOf } from "../json.ts";
import { CONDITION_METRICS, Upgrades } from "./names.ts";
import type { CollectedSample, UpgradeMetric } from "./decide/types/effects.ts";

type GaugeRow = readonly [labels: readonly string[], help: string];

const NAME = "upgradeconfig_name";
const STAGE_LABELS = ["_id", NAME, "version"];
const CONDITION_LABELS = [NAME, "version", "desired_version", "condition"];

/** Gauges that are set. `ephemeral`: removed with the UpgradeConfig; `failure`: also when an upgrade fails. */
const SET_GAUGES = {
  failure: {
    upgradeoperator_upgradeconfig_validation_failed: [
      [NAME],
      "1 while the UpgradeConfig cannot be carried out as it is written.",
    ],
    upgradeoperator_scaling_failed: [[NAME], "1 when spare capacity was not there in time."],
    upgradeoperator_controlplane_timeout: [[NAME, "version"], "1 while the control plane takes longer than it may."],
    upgradeoperator_worker_timeout: [[NAME, "version"], "1 while workers take longer than their maintenance window."],
    upgradeoperator_healthcheck_failed: [
      [NAME, "state", "version", "reason"],
      "1 for each reason for which a health check of the upgrade fails.",
    ],
    upgradeoperator_node_drain_timeout: [["node_name"], "1 while a node is drained for longer than it may take."],
    archway_upgrade_migration_stuck: [
      [NAME, "version"],
      "1 while a migration to a payload for several architectures is refused or fails.",
    ],
    upgrade_notification_failed: [
      [NAME, "event"],
      "1 while a notification that is waited for could not be sent.",
    ],
  },
  ephemeral: {
    upgradeoperator_upgrade_window_breached: [[NAME], "1 when an upgrade did not begin within its window."],
    upgradeoperator_upgradeconfig_sync_timestamp: [
      [NAME],
      "When the policy source was last asked with success (Unix seconds).",
    ],
    archway_upgrade_policy_interval_seconds: [
      [NAME],
      "How often the policy source is to be asked, as configured when it was last asked.",
    ],
  },
  persistent: {
    upgradeoperator_upgrade_result: [
      [NAME, "preceding_version", "stream", "version", "alerts"],
      "1 when no paging alert fired during the upgrade, else 0.",
    ],
  },
} satisfies Record<string, Partial<Record<UpgradeMetric | OwnMetric, GaugeRow>>>;

type OwnMetric = "upgradeoperator_upgradeconfig_sync_timestamp" | "archway_upgrade_policy_interval_seconds";

const STAGES: Readonly<Record<string, string>> = {
  upgrade_started: "the upgrade started",
  upgrade_completed: "the upgrade was complete",
  controlplane_upgrade_started: "the update of the control plane was asked for",
  controlplane_upgrade_completed: "the control plane was updated",
  workernode_upgrade_started: "the update of the workers started",
  workernode_upgrade_completed: "the workers were updated",
};

const UPGRADE_LABELS = ["version", "desired_version", "phase"];
const SCRAPE_FAILED = "managed_upgrade_collector_scrape_failed";

/** Gauges that follow from the status at each scrape, so that a restart changes none of them. */
const SCRAPED_GAUGES: Readonly<Record<string, GaugeRow>> = {
  upgradeoperator_upgrade_notification: [[NAME, "event", "version"], "1 for each notification that was sent."],
  ...Object.fromEntries(
    Object.entries(STAGES).map(([stage, what]): [string, GaugeRow] => [
      `upgradeoperator_${stage}_timestamp`,
      [STAGE_LABELS, `When ${what} (Unix seconds).`],
    ]),
  ),
  managed_upgrade_upgrade_start_timestamp: [UPGRADE_LABELS, "When the upgrade started (Unix seconds)."],
  managed_upgrade_upgrade_complete_timestamp: [UPGRADE_LABELS, "When the upgrade was complete (Unix seconds)."],
  managed_upgrade_upgrade_scheduled: [UPGRADE_LABELS, "When the upgrade is to start (Unix seconds)."],
  managed_upgrade_upgrade_pdb_timeout_minutes: [
    ["version", "desired_version"],
    "How long a PodDisruptionBudget may hold up a drain.",
  ],
  ...Object.fromEntries(
    Object.entries(CONDITION_METRICS).map(([type, metric]): [string, GaugeRow] => [
      `managed_upgrade_condition_${metric}`,
      [CONDITION_LABELS, `When the step ${type} was done, or started while it is not (Unix seconds).`],
    ]),
  ),
  [SCRAPE_FAILED]: [[], "1 when what is scraped could not be read; without a series otherwise."],
};

export interface UpgradeMetrics {
  set(metric: UpgradeMetric | OwnMetric, labels: CollectedSample["labels"], value: number): void;
  clear(metric: UpgradeMetric | OwnMetric): void;
  clearGroup(group: "ephemeral" | "failure"): void;
  /** Replaces all samples that follow from the status; undefined: they could not be read. */
  setScraped(samples: readonly CollectedSample[] | undefined): void;
}

/** A gauge has no series before it is set, as with the MUO. */
export function openUpgradeMetrics(registry: Registry): UpgradeMetrics {
  const open = (table: Readonly<Record<string, GaugeRow>>): ReadonlyMap<string, Gauge> =>
    new Map(
      Object.entries(table).map(([name, [labels, help]]) => {
        const gauge = new Gauge({ name, help, labelNames: [...labels], registers: [registry] });
        gauge.reset();
        return [name, gauge];
      }),
    );
  const { failure, ephemeral, persistent } = SET_GAUGES;
  const groups = { failure: open(failure), ephemeral: open(ephemeral), persistent: open(persistent) };
  const rows: Readonly<Record<string, GaugeRow>> = { ...failure, ...ephemeral, ...persistent };
  const set = new Map(Object.values(groups).flatMap((gauges) => [...gauges]));
  const scraped = open(SCRAPED_GAUGES);
  scraped.get(SCRAPE_FAILED)?.remove();
  return {
    set: (metric, labels, value) => {
      const own = { ...labels, [NAME]: Upgrades.config };
      const known = (rows[metric]?.[0] ?? []).map((name) => [name, entryOf(own, name) ?? ""]);
      set.get(metric)?.set(Object.fromEntries(known), value);
    },
    clear: (metric) => set.get(metric)?.reset(),
    clearGroup: (group) => {
      for (const gauge of groups.failure.values()) gauge.reset();
      if (group === "ephemeral") { for (const gauge of groups.ephemeral.values()) gauge.reset(); }
    },
    setScraped: (samples) => {
      for (const gauge of scraped.values()) gauge.reset();
      const failed = scraped.get(SCRAPE_FAILED);
      if (samples === undefined) failed?.set(1);
      else failed?.remove();
      for (const { name, labels, value } of samples ?? []) scraped.get(name)?.set({ ...labels }, value);
    },
  };
}

/** Registers the gauge about the settings, read at each scrape. It has no series while their state is not known. */
export function openSettingsMetric(registry: Registry, areInvalid: () => boolean | undefined): void {
  new Gauge({
    name: "archway_upgrade_settings_invalid",
    help: "1 while the settings of upgrades are missing or wrong: no upgrade begins or goes on.",
    labelNames: [NAME],
    registers: [registry],
    collect(): void {
      this.reset();
      const invalid = areInvalid();
      if (invalid !== undefined) this.set({ [NAME]: Upgrades.config }, Number(invalid));
    },
  });
}
