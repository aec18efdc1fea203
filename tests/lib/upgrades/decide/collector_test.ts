import assert from "node:assert/strict";
import { renderTime } from "../../../../lib/vocabulary/time.ts";
import { collectSamples } from "../../../../lib/upgrades/decide/collector.ts";
import type { CollectedSample } from "../../../../lib/upgrades/decide/types/effects.ts";
import { FROM, makeCluster, makeHistory, makePlan, makeStep, NOW_MS, START_MS, TO } from "./make_plan.ts";

const CLUSTER = makeCluster();

function labelled(samples: readonly CollectedSample[], name: string): CollectedSample | undefined {
  return samples.find((sample) => sample.name === name);
}

function sampleOf(name: string, labels: CollectedSample["labels"], value: number): CollectedSample {
  return { name: `managed_upgrade_${name}`, labels, value };
}

Deno.test("M-381 collectSamples() has one sample for each condition, and those of spec and status", () => {
  const times = { startTime: renderTime(NOW_MS), lastProbeTime: renderTime(0), lastTransitionTime: renderTime(0) };
  const plan = makePlan({}, {
    history: [makeHistory({
      startTime: renderTime(NOW_MS),
      conditions: [
        makeStep("ControlPlaneUpgraded", { ...times, status: "False" }),
        makeStep("UpgradeCommenced", { ...times, completeTime: renderTime(NOW_MS + 5_999) }),
        makeStep("PostUpgradeTasksCompleted", { ...times, completeTime: renderTime(NOW_MS) }),
      ],
    })],
  });
  const samples = collectSamples(plan, CLUSTER);
  const versions = { version: FROM, desired_version: TO };
  const seconds = NOW_MS / 1_000;
  const conditions = samples.filter(({ name }) => name.startsWith("managed_upgrade_condition_"));
  const named = { ...versions, upgradeconfig_name: plan.name };
  assert.deepEqual(conditions, [
    sampleOf("condition_control_plane_completion_timestamp", { ...named, condition: "False" }, seconds),
    sampleOf("condition_control_plane_upgrade_start_timestamp", { ...named, condition: "True" }, seconds + 5),
  ]);
  const scheduled = sampleOf("upgrade_scheduled", { ...versions, phase: "Upgrading" }, START_MS / 1_000);
  assert.deepEqual(labelled(samples, "managed_upgrade_upgrade_scheduled"), scheduled);
  assert.deepEqual(labelled(samples, "managed_upgrade_upgrade_pdb_timeout_minutes")?.labels, versions);
  assert.equal(labelled(samples, "managed_upgrade_upgrade_start_timestamp")?.value, seconds);
  assert.equal(labelled(samples, "managed_upgrade_upgrade_complete_timestamp"), undefined);
});

Deno.test("collectSamples() keeps the version that the upgrade leads away from, once the control plane has the new one", () => {
  const plan = makePlan({}, { history: [makeHistory()] });
  const completed = { state: "Completed", image: "", startedMs: 1 } as const;
  const history = [{ ...completed, version: TO, completedMs: 9 }, { ...completed, version: FROM, completedMs: 5 }];
  const samples = collectSamples(plan, makeCluster({ history }));
  assert.equal(labelled(samples, "managed_upgrade_upgrade_scheduled")?.labels.version, FROM);
});

Deno.test("collectSamples() stamps each stage once, by what was sent, else by the end of its step, and shows what was sent", () => {
  const notifications = [{ state: "StateStarted", sentTime: renderTime(NOW_MS) }, {
    state: "StateControlPlaneFinishedSL",
    sentTime: renderTime(NOW_MS + 60_000),
  }, { state: "StateLater", sentTime: renderTime(NOW_MS) }] as const;
  const conditions = ["ControlPlaneUpgraded", "WorkerNodesUpgraded"].map((type) =>
    makeStep(type, { completeTime: renderTime(NOW_MS + 90_000) })
  );
  const of = (phase: "Upgrading" | "Failed") =>
    collectSamples(makePlan({}, { history: [makeHistory({ phase, notifications, conditions })] }), CLUSTER);
  const running = of("Upgrading");
  const stages = running.filter(({ name }) => /^upgradeoperator_.*_timestamp$/.test(name));
  const passed = stages.map(({ name, value }) => [name.slice("upgradeoperator_".length), value - NOW_MS / 1_000]);
  assert.deepEqual(passed, [
    ["upgrade_started_timestamp", 0],
    ["controlplane_upgrade_completed_timestamp", 60],
    ["workernode_upgrade_started_timestamp", 60],
    ["workernode_upgrade_completed_timestamp", 90],
  ]);
  for (const { labels } of stages) {
    assert.deepEqual(Object.keys(labels).toSorted(), ["_id", "upgradeconfig_name", "version"]);
  }
  const sent = running.filter(({ name }) => name === "upgradeoperator_upgrade_notification");
  assert.deepEqual(sent.map(({ labels }) => labels.event), ["StateStarted", "StateControlPlaneFinishedSL"]);
  const failed = of("Failed");
  assert.equal(labelled(failed, "upgradeoperator_upgrade_started_timestamp"), undefined);
  assert.equal(labelled(failed, "upgradeoperator_upgrade_notification"), undefined);
  assert.ok(labelled(failed, "upgradeoperator_controlplane_upgrade_completed_timestamp") !== undefined);
});

Deno.test("collectSamples() has the samples of the spec alone while a plan has no history, and none of a time that is none", () => {
  const names = collectSamples(makePlan({ upgradeAt: "tomorrow" }), CLUSTER).map(({ name }) => name);
  assert.deepEqual(names, ["managed_upgrade_upgrade_pdb_timeout_minutes"]);
});
