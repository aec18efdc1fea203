// The metrics of upgrades, with the names of the Managed Upgrade Operator (MUO): alerts and reports key on them. They are
// registered only in a process that runs upgrades. Unlike all others they have labels of open sets, as the MUO has them: versions,
// the name of the UpgradeConfig, nodes, the cluster's id; what bounds them is that there is one upgrade at a time.
import { Gauge, type Registry } from "prom-client";
import { CONDITION_METRICS, Upgrades } from "./names.ts";
import type { UpgradeMetric } from "./decide/types/effects.ts";

export interface UpgradeSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** When the series of a gauge go: with the UpgradeConfig (`ephemeral`), with it or when the upgrade fails (`failure`), never. */
type Lifetime = "ephemeral" | "failure" | "persistent";

interface GaugeRow {
  readonly labels: readonly string[];
  readonly lifetime: Lifetime;
  readonly help: string;
}

const NAME = "upgradeconfig_name";
const STAGE_LABELS = ["_id", NAME, "version"];
const CONDITION_LABELS = [NAME, "version", "desired_version", "condition"];

/** The labels of a gauge about the one plan; a gauge without the label of its name leaves that out. */
export function labelsOfPlan(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { ...labels, [NAME]: Upgrades.config };
}

/** Gauges that are set when something happens. */
const SET_GAUGES: Readonly<Record<UpgradeMetric | OwnMetric, GaugeRow>> = {
  upgradeoperator_upgradeconfig_validation_failed: {
    labels: [NAME],
    lifetime: "failure",
    help: "1 while the UpgradeConfig cannot be carried out as it is written.",
  },
  upgradeoperator_scaling_failed: {
    labels: [NAME],
    lifetime: "failure",
    help: "1 when spare capacity was not there in time.",
  },
  upgradeoperator_upgrade_window_breached: {
    labels: [NAME],
    lifetime: "ephemeral",
    help: "1 when an upgrade did not begin within its window.",
  },
  upgradeoperator_controlplane_timeout: {
    labels: [NAME, "version"],
    lifetime: "failure",
    help: "1 while the control plane takes longer than it may.",
  },
  upgradeoperator_worker_timeout: {
    labels: [NAME, "version"],
    lifetime: "failure",
    help: "1 while workers take longer than their maintenance window.",
  },
  upgradeoperator_healthcheck_failed: {
    labels: [NAME, "state", "version", "reason"],
    lifetime: "failure",
    help: "1 for each reason for which a health check of the upgrade fails.",
  },
  upgradeoperator_node_drain_timeout: {
    labels: ["node_name"],
    lifetime: "failure",
    help: "1 while a node is drained for longer than it may take.",
  },
  upgradeoperator_upgrade_result: {
    labels: [NAME, "preceding_version", "stream", "version", "alerts"],
    lifetime: "persistent",
    help: "1 when no paging alert fired during the upgrade, else 0.",
  },
  archway_upgrade_migration_stuck: {
    labels: [NAME, "version"],
    lifetime: "failure",
    help: "1 while a migration to a payload for several architectures is refused or fails.",
  },
  upgrade_notification_failed: {
    labels: [NAME, "event"],
    lifetime: "failure",
    help: "1 while a notification that is waited for could not be sent.",
  },
  upgradeoperator_upgradeconfig_sync_timestamp: {
    labels: [NAME],
    lifetime: "ephemeral",
    help: "When the policy source was last asked with success (Unix seconds).",
  },
  archway_upgrade_policy_interval_seconds: {
    labels: [NAME],
    lifetime: "ephemeral",
    help: "How often the policy source is to be asked, as configured when it was last asked.",
  },
};

/** What this service sets beside the decisions. */
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

/** Gauges that follow from the status at each scrape, so that a restart changes none of them. */
const SCRAPED_GAUGES: Readonly<Record<string, Omit<GaugeRow, "lifetime">>> = {
  upgradeoperator_upgrade_notification: {
    labels: [NAME, "event", "version"],
    help: "1 for each notification that was sent.",
  },
  ...Object.fromEntries(
    Object.entries(STAGES).map(([stage, what]) => [
      `upgradeoperator_${stage}_timestamp`,
      { labels: STAGE_LABELS, help: `When ${what} (Unix seconds).` },
    ]),
  ),
  managed_upgrade_upgrade_start_timestamp: { labels: UPGRADE_LABELS, help: "When the upgrade started (Unix seconds)." },
  managed_upgrade_upgrade_complete_timestamp: {
    labels: UPGRADE_LABELS,
    help: "When the upgrade was complete (Unix seconds).",
  },
  managed_upgrade_upgrade_scheduled: { labels: UPGRADE_LABELS, help: "When the upgrade is to start (Unix seconds)." },
  managed_upgrade_upgrade_pdb_timeout_minutes: {
    labels: ["version", "desired_version"],
    help: "How long a PodDisruptionBudget may hold up a drain.",
  },
  ...Object.fromEntries(
    Object.entries(CONDITION_METRICS).map(([type, metric]) => [
      `managed_upgrade_condition_${metric}`,
      { labels: CONDITION_LABELS, help: `When the step ${type} was done, or started while it is not (Unix seconds).` },
    ]),
  ),
  managed_upgrade_collector_scrape_failed: {
    labels: [],
    help: "1 when what is scraped could not be read; without a series otherwise.",
  },
};

/** The metrics, registered. */
export interface UpgradeMetrics {
  /** Sets a gauge. Labels that the gauge does not have are left out. */
  set(metric: UpgradeMetric | OwnMetric, sample: Omit<UpgradeSample, "name">): void;
  /** Removes all series of a gauge. */
  clear(metric: UpgradeMetric | OwnMetric): void;
  /** Removes the series that go with the UpgradeConfig, or when an upgrade fails. */
  clearGroup(group: "ephemeral" | "failure"): void;
  /** Puts these samples in the place of all that follow from the status; undefined: they could not be read. */
  setScraped(samples: readonly UpgradeSample[] | undefined): void;
}

/** Registers them. A gauge has no series before it is set, as with the MUO. */
export function openUpgradeMetrics(registry: Registry): UpgradeMetrics {
  const open = (name: string, { labels, help }: Pick<GaugeRow, "labels" | "help">): readonly [string, Gauge] => [
    name,
    new Gauge({ name, help, labelNames: [...labels], registers: [registry] }),
  ];
  const set = new Map(Object.entries(SET_GAUGES).map(([name, row]) => open(name, row)));
  const scraped = new Map(Object.entries(SCRAPED_GAUGES).map(([name, row]) => open(name, row)));
  for (const gauge of [...set.values(), ...scraped.values()]) gauge.reset();
  scraped.get("managed_upgrade_collector_scrape_failed")?.remove();
  return {
    set: (metric, { labels, value }) => {
      const known = SET_GAUGES[metric].labels.map((name) => [name, labels[name] ?? ""] as const);
      set.get(metric)?.set(Object.fromEntries(known), value);
    },
    clear: (metric) => set.get(metric)?.reset(),
    clearGroup: (group) => {
      for (const [name, { lifetime }] of Object.entries(SET_GAUGES)) {
        const goes = lifetime === "failure" || (lifetime === "ephemeral" && group === "ephemeral");
        if (goes) set.get(name)?.reset();
      }
    },
    setScraped: (samples) => {
      for (const gauge of scraped.values()) gauge.reset();
      const failed = scraped.get("managed_upgrade_collector_scrape_failed");
      if (samples === undefined) failed?.set(1);
      else failed?.remove();
      for (const { name, labels, value } of samples ?? []) scraped.get(name)?.set({ ...labels }, value);
    },
  };
}

/** Registers the gauge about the settings, read at each scrape; without a series while that is not known. */
export function openSettingsMetric(registry: Registry, areInvalid: () => boolean | undefined): void {
  new Gauge({
    name: "archway_upgrade_settings_invalid",
    help: "1 while the settings of upgrades are missing or wrong: no upgrade begins or goes on.",
    labelNames: [NAME],
    registers: [registry],
    collect(): void {
      this.reset();
      const invalid = areInvalid();
      if (invalid !== undefined) this.set(labelsOfPlan({}), Number(invalid));
    },
  });
}
