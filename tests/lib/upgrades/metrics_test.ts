// The metrics of upgrades, against the names that alerts and reports of the MUO key on.
import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { openGauges } from "../../../lib/metrics.ts";
import type { ConfigReading } from "../../../lib/upgrades/decide/types/operator_config.ts";
import { openUpgradeMetrics, SETTINGS_GAUGES } from "../../../lib/upgrades/metrics.ts";

const NAME = "upgradeconfig_name";
const STAGE = ["_id", NAME, "version"];
const CONDITION = [NAME, "version", "desired_version", "condition"];
const UPGRADE = ["version", "desired_version", "phase"];

const THEIRS: Readonly<Record<string, readonly string[]>> = {
  upgradeoperator_upgradeconfig_validation_failed: [NAME],
  upgradeoperator_scaling_failed: [NAME],
  upgradeoperator_upgrade_window_breached: [NAME],
  upgradeoperator_controlplane_timeout: [NAME, "version"],
  upgradeoperator_worker_timeout: [NAME, "version"],
  upgradeoperator_healthcheck_failed: [NAME, "state", "version", "reason"],
  upgradeoperator_node_drain_timeout: ["node_name"],
  upgradeoperator_upgrade_notification: [NAME, "event", "version"],
  upgrade_notification_failed: [NAME, "event"],
  upgradeoperator_upgradeconfig_sync_timestamp: [NAME],
  upgradeoperator_upgrade_started_timestamp: STAGE,
  upgradeoperator_upgrade_completed_timestamp: STAGE,
  upgradeoperator_controlplane_upgrade_started_timestamp: STAGE,
  upgradeoperator_controlplane_upgrade_completed_timestamp: STAGE,
  upgradeoperator_workernode_upgrade_started_timestamp: STAGE,
  upgradeoperator_workernode_upgrade_completed_timestamp: STAGE,
  upgradeoperator_upgrade_result: [NAME, "preceding_version", "stream", "version", "alerts"],
  managed_upgrade_upgrade_start_timestamp: UPGRADE,
  managed_upgrade_upgrade_complete_timestamp: UPGRADE,
  managed_upgrade_upgrade_scheduled: UPGRADE,
  managed_upgrade_upgrade_pdb_timeout_minutes: ["version", "desired_version"],
  managed_upgrade_collector_scrape_failed: [],
  ...Object.fromEntries(
    [
      "notification_start_timestamp",
      "health_check_timestamp",
      "external_dep_check_timestamp",
      "capacity_added_timestamp",
      "control_plane_maint_start_timestamp",
      "control_plane_upgrade_start_timestamp",
      "control_plane_completion_timestamp",
      "control_plane_maint_removed_timestamp",
      "workers_maint_start_timestamp",
      "workers_upgraded_timestamp",
      "capacity_removed_timestamp",
      "workers_maint_removed_timestamp",
      "post_upgrade_healthcheck_timestamp",
      "notification_complete_timestamp",
    ].map((metric) => [`managed_upgrade_condition_${metric}`, CONDITION]),
  ),
};

const OURS = ["archway_upgrade_migration_stuck", "archway_upgrade_policy_interval_seconds"];

const open = () => {
  const registry = new Registry();
  const metrics = openUpgradeMetrics(registry);
  const series = async () =>
    (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return { registry, metrics, series };
};

Deno.test("SETTINGS_GAUGES shows whether the settings are wrong, as they were read last", async () => {
  const registry = new Registry();
  const show = openGauges(registry, SETTINGS_GAUGES);
  const shown = async (kind: ConfigReading["kind"]): Promise<string | undefined> => {
    show(kind);
    return (await registry.metrics()).match(/^archway_upgrade_settings_invalid.*$/m)?.[0];
  };
  assert.equal(await shown("unknown"), undefined);
  assert.equal(
    await shown("unparsable"),
    'archway_upgrade_settings_invalid{upgradeconfig_name="managed-upgrade-config"} 1',
  );
  assert.match(await shown("parsed") ?? "", / 0$/);
  assert.equal(await shown("unknown"), undefined);
});

Deno.test("N-032 openUpgradeMetrics() registers every metric of the MUO with its labels, and two of its own", async () => {
  const { registry, metrics, series } = open();
  const registered = await registry.getMetricsAsJSON();
  assert.deepEqual(registered.map(({ name }) => name).toSorted(), [...Object.keys(THEIRS), ...OURS].toSorted());
  metrics.setScraped(
    Object.entries(THEIRS).map(([name, labels]) => ({
      name,
      value: 1,
      labels: Object.fromEntries(labels.map((label) => [label, "x"])),
    })),
  );
  const collected = await series();
  metrics.setScraped(undefined);
  const scraped = [...collected, ...await series()];
  assert.ok(scraped.length >= 26);
  for (const line of scraped) {
    const [, name = "", labels = ""] = /^(\w+)(?:\{(.*)\})? 1$/.exec(line) ?? [];
    assert.deepEqual(
      labels.split(",").map((label) => label.split("=")[0]),
      THEIRS[name]?.length === 0 ? [""] : THEIRS[name],
    );
  }
});

Deno.test("M-380 openUpgradeMetrics() has no series before something happened", async () => {
  const { metrics, series } = open();
  assert.deepEqual(await series(), []);
  metrics.setScraped([]);
  assert.deepEqual(await series(), []);
});

Deno.test("setScraped() reports when what is scraped could not be read, and drops what was there", async () => {
  const { metrics, series } = open();
  const labels = { version: "4.17.1", desired_version: "4.17.2" };
  metrics.setScraped([{ name: "managed_upgrade_upgrade_pdb_timeout_minutes", labels, value: 60 }]);
  assert.deepEqual(await series(), [
    'managed_upgrade_upgrade_pdb_timeout_minutes{version="4.17.1",desired_version="4.17.2"} 60',
  ]);
  metrics.setScraped(undefined);
  assert.deepEqual(await series(), ["managed_upgrade_collector_scrape_failed 1"]);
  metrics.setScraped([]);
  assert.deepEqual(await series(), []);
});

Deno.test("clearGroup() drops what goes with a failure, or with the plan; the result stays", async () => {
  const { metrics, series } = open();
  const fill = (): void => {
    const labels = { upgradeconfig_name: "c", version: "v", node_name: "n", state: "New", reason: "r" };
    for (
      const metric of [
        "upgradeoperator_node_drain_timeout",
        "upgradeoperator_healthcheck_failed",
        "upgradeoperator_upgrade_window_breached",
        "upgradeoperator_upgradeconfig_sync_timestamp",
        "upgradeoperator_upgrade_result",
      ] as const
    ) metrics.set(metric, labels, 1);
  };
  const names = async () => (await series()).map((line) => line.split("{")[0]);
  fill();
  metrics.clearGroup("failure");
  assert.deepEqual(await names(), [
    "upgradeoperator_upgrade_window_breached",
    "upgradeoperator_upgradeconfig_sync_timestamp",
    "upgradeoperator_upgrade_result",
  ]);
  fill();
  metrics.clearGroup("ephemeral");
  assert.deepEqual(await names(), ["upgradeoperator_upgrade_result"]);
});

Deno.test("set() and clear() change one gauge, and leave out labels that it does not have", async () => {
  const { metrics, series } = open();
  metrics.set("upgradeoperator_node_drain_timeout", { node_name: "n1", upgradeconfig_name: "c" }, 1);
  assert.deepEqual(await series(), ['upgradeoperator_node_drain_timeout{node_name="n1"} 1']);
  metrics.clear("upgradeoperator_node_drain_timeout");
  assert.deepEqual(await series(), []);
});
