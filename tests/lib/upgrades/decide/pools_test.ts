import assert from "node:assert/strict";
import {
  cordonOf,
  describeTrouble,
  isPoolUpdating,
  isUnderConfiguration,
  pressuresOf,
  summarizePools,
} from "../../../../lib/upgrades/decide/pools.ts";
import { makePool } from "./make_plan.ts";
import { minutes, minutesAgo, node, NOW_MS } from "./make.ts";

Deno.test("M-341 M-342 isPoolUpdating() holds while a machine of the pool is not updated", () => {
  assert.equal(isPoolUpdating(makePool("worker")), false);
  assert.equal(isPoolUpdating(makePool("worker", { updatedMachineCount: 2 })), true);
  const before = makePool("worker", { isUpdated: false });
  assert.equal(isPoolUpdating(before), true, "the counts are those before the new config");
  assert.equal(isPoolUpdating(makePool("empty", { machineCount: 0, updatedMachineCount: 0, isUpdated: false })), false);
});

Deno.test("N-024 N-012 summarizePools() waits for every pool but paused ones, which it names", () => {
  const pools = [
    makePool("worker", { updatedMachineCount: 1, isUpdated: false }),
    makePool("master"),
    makePool("infra", { machineCount: 2, updatedMachineCount: 0, isUpdated: false, isDegraded: true }),
    makePool("frozen", { isPaused: true, updatedMachineCount: 0, isUpdated: false }),
  ];
  const summary = summarizePools(pools);
  assert.deepEqual(summary.updating.map(({ name }) => name), ["infra", "worker"]);
  const { paused, degraded, machines, updatedMachines, isDone } = summary;
  assert.deepEqual({ paused, degraded, machines, updatedMachines, isDone }, {
    paused: ["frozen"],
    degraded: ["infra"],
    machines: 8,
    updatedMachines: 4,
    isDone: false,
  });
  assert.equal(summarizePools(pools.slice(1, 2).concat(pools.slice(3))).isDone, true);
});

Deno.test("describeTrouble() names the pools that are degraded and the nodes that are not Ready, each with why", () => {
  const degraded = makePool("worker", { isDegraded: true, degradedMessage: "Node worker-2 is reporting: disk full" });
  const frozen = makePool("frozen", { isDegraded: true, isPaused: true });
  const lost = [
    { name: "worker-1", message: "Kubelet stopped posting node status." },
    { name: "worker-3", message: "" },
  ];
  assert.deepEqual(describeTrouble([makePool("master"), degraded, frozen], lost), [
    "MachineConfigPool worker is degraded (Node worker-2 is reporting: disk full)",
    "node worker-1 is not Ready (Kubelet stopped posting node status.)",
    "node worker-3 is not Ready",
  ]);
  assert.deepEqual(describeTrouble([makePool("master"), makePool("worker")], []), []);
  const many = Array.from({ length: 50 }, (_, at) => ({ name: `n-${at}`, message: "m".repeat(5_000) }));
  const words = describeTrouble([], many);
  assert.deepEqual([words.length, words.at(-1)], [4, "47 more nodes are not Ready"]);
  assert.ok(words.join("; ").length < 1_200, "a status has room for it");
});

Deno.test("M-343 M-344 cordonOf() tells cordons and their time, by the right taint of several", () => {
  assert.deepEqual(cordonOf(node("a")), { kind: "none" });
  assert.deepEqual(cordonOf(node("a", { cordonedMinutes: "unknown" })), { kind: "unknownTime" });
  const others = [
    { key: "dedicated", effect: "NoSchedule", timeAdded: minutesAgo(99) },
    { key: "node.kubernetes.io/unschedulable", effect: "NoExecute", timeAdded: minutesAgo(98) },
  ];
  const since = { kind: "since", sinceMs: NOW_MS - minutes(7) };
  assert.deepEqual(cordonOf(node("a", { cordonedMinutes: 7, taints: others })), since);
});

Deno.test("M-345 M-346 pressuresOf() finds each pressure by its taint, and none in others", () => {
  const tainted = (...keys: readonly string[]): readonly string[] =>
    pressuresOf(node("a", { taints: keys.map((key) => ({ key, effect: "NoSchedule" })) }));
  assert.deepEqual(tainted(), []);
  assert.deepEqual(tainted("dedicated"), []);
  for (const pressure of ["memory", "disk", "pid"]) {
    assert.deepEqual(tainted(`node.kubernetes.io/${pressure}-pressure`), [pressure]);
  }
  const softly = node("a", { taints: [{ key: "node.kubernetes.io/disk-pressure", effect: "PreferNoSchedule" }] });
  assert.deepEqual(pressuresOf(softly), []);
});

Deno.test("isUnderConfiguration() holds while the machine config operator works on a node, and while that has failed", () => {
  const current = "rendered-worker-1";
  assert.equal(isUnderConfiguration(node("a", { state: "Working" })), true);
  assert.equal(isUnderConfiguration(node("a", { state: "Degraded", configs: [current, "rendered-worker-2"] })), true);
  assert.equal(isUnderConfiguration(node("a", { state: "Degraded", configs: [current, current] })), false);
  assert.equal(isUnderConfiguration(node("a", { state: "Degraded" })), false);
  assert.equal(isUnderConfiguration(node("a", { state: "Done", configs: [current, "rendered-worker-2"] })), false);
  assert.equal(isUnderConfiguration(node("a")), false);
});
