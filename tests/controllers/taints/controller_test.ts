import assert from "node:assert/strict";
import { openTaints } from "../../../controllers/taints/controller.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import type { ConfigPresence } from "../../../lib/operator/decide/gating_health.ts";
import { openRateLimiter } from "../../../lib/k8s/write_limits.ts";
import { ours, rawDaemonSet, rawNode, rawTaintPod, RULE } from "../../lib/taints/decide/make.ts";
import { furnish, openScene, runFor, whileRunning } from "../make.ts";
import { type MemoryCall, refusing } from "../../support/memory_kube_api.ts";
import { clusterConfig, conditionOf, taintLine, toleratedBy } from "./make.ts";

const openBed = (objects: readonly KubeObject[], before: (call: MemoryCall) => void = () => {}) => {
  const scene = openScene(...objects);
  const { cluster, clock, events } = scene;
  const writes: string[] = [];
  const listeners: (() => void)[] = [];
  const api = cluster.client((call) => {
    before(call);
    if (call.verb === "patch" && call.plural !== Resource.clusterConfigs.plural) {
      writes.push(`${call.plural} ${call.name}`);
    }
  });
  let presence: ConfigPresence = "present";
  const setPresence = (next: ConfigPresence): void => {
    presence = next;
    for (const listener of listeners) listener();
  };
  const controller = openTaints({
    api,
    events,
    metrics: { archway_arch_taint_writes_total: { inc: () => {} } },
    clock,
    log: silentLogger,
    rule: RULE,
    limiter: openRateLimiter(clock),
    presence: () => presence,
    onPresence: (listener) => void listeners.push(listener),
  });
  return { ...scene, writes, setPresence, controller };
};

Deno.test("openTaints() gives running and pending pods their tolerations before it taints the first node, and reports it", async () => {
  const bed = openBed([
    clusterConfig(),
    rawNode({ name: "a" }),
    rawNode({ name: "r", reported: "arm64" }),
    rawTaintPod({ name: "runs", node: "r" }),
    rawTaintPod({ name: "waits" }),
    rawTaintPod({ name: "ended", node: "a", phase: "Succeeded" }),
  ]);
  await whileRunning(bed, bed.controller, async () => {
    await bed.clock.advance(2_000);
    assert.equal(taintLine(bed.cluster), "a:amd64 r:arm64");
    assert.deepEqual(bed.writes, ["pods waits", "pods runs", "nodes a", "nodes r"]);
    assert.deepEqual(["runs", "waits", "ended"].map((name) => toleratedBy(bed.cluster, name)), [
      "arm64",
      "amd64,arm64,ppc64le,s390x",
      "",
    ]);
    assert.equal(conditionOf(bed.cluster), "True Done");
    assert.deepEqual(bed.recorded.map(({ reason, message }) => `${reason} ${message}`), [
      "ArchTaintsProgress All 2 nodes carry their taint supported-arch.",
    ]);
    await bed.clock.advance(60_000);
    assert.equal(bed.writes.length, 4, "nothing is written twice");
  });
});

Deno.test("openTaints() takes over what the archaware controller wrote, and undoes its clean mode", async () => {
  // Its tolerations have no operator.
  const theirs = [{ key: "supported-arch", value: "amd64", effect: "NoSchedule" }];
  const bed = openBed([
    clusterConfig(),
    rawNode({ name: "a", taints: [ours("amd64")] }),
    rawNode({ name: "b", taints: [ours("amd64"), ours("arm64")] }),
    rawTaintPod({ name: "runs", node: "a", tolerations: theirs }),
    rawTaintPod({ name: "waits", tolerations: theirs }),
  ]);
  await whileRunning(bed, bed.controller, async () => {
    await bed.clock.advance(2_000);
    assert.deepEqual([taintLine(bed.cluster), bed.writes], ["a:amd64 b:amd64", ["nodes b"]]);
    // First it deletes every pod, and owners make them again; then it takes the taint off each node.
    for (const name of ["runs", "waits"]) bed.cluster.drop(Resource.pods, `team/${name}`);
    const says = "0/2 nodes are available: 2 node(s) had untolerated taint(s).";
    furnish(bed.cluster, [rawTaintPod({ name: "again", says })]);
    await bed.clock.advance(1_000);
    assert.equal(toleratedBy(bed.cluster, "again"), "amd64,arm64,ppc64le,s390x");
    furnish(bed.cluster, ["a", "b"].map((name) => rawNode({ name, taints: [] })));
    await bed.clock.advance(2_000);
    assert.equal(taintLine(bed.cluster), "a:amd64 b:amd64");
    assert.deepEqual(bed.writes, ["nodes b", "pods again", "nodes a", "nodes b"]);
  });
});

Deno.test("openTaints() taints no node while a pod refuses its toleration, and names it", async () => {
  let refuses = true;
  const objects = [clusterConfig(), rawNode({ name: "a" }), rawTaintPod({ name: "runs", node: "a" })];
  const bed = openBed(objects, refusing(403, ({ verb, plural }) => refuses && verb === "patch" && plural === "pods"));
  await whileRunning(bed, bed.controller, async () => {
    await bed.clock.advance(8_000);
    assert.equal(taintLine(bed.cluster), "a:");
    assert.equal(conditionOf(bed.cluster), "False Waiting");
    assert.match(bed.recorded.at(-1)?.message ?? "", /team\/runs \(away\)/);
    refuses = false;
    await bed.clock.advance(20_000);
    assert.equal(taintLine(bed.cluster), "a:amd64");
  });
});

Deno.test("openTaints() waits for DaemonSets whose template lacks the toleration, and taints once they have it", async () => {
  const bed = openBed([clusterConfig(), rawNode({ name: "a" }), rawDaemonSet("agent")]);
  await whileRunning(bed, bed.controller, async () => {
    await bed.clock.advance(10_000);
    assert.equal(taintLine(bed.cluster), "a:");
    assert.match(bed.recorded.at(-1)?.message ?? "", /templates of DaemonSets .*kube-system\/agent/);
    furnish(bed.cluster, [rawDaemonSet("agent", { tolerations: [{ operator: "Exists" }] })]);
    await bed.clock.advance(1_000);
    assert.equal(taintLine(bed.cluster), "a:amd64");
  });
});

Deno.test("openTaints() checks ten times a second at most while there is nothing to write, however often a DaemonSet changes", async () => {
  const bed = openBed([clusterConfig(), rawNode({ name: "a" }), rawDaemonSet("agent")]);
  await whileRunning(bed, bed.controller, async () => {
    await bed.clock.advance(2_000);
    const checks = new Set<unknown>();
    for (let at = 0; at < 100; at++) {
      furnish(bed.cluster, [rawDaemonSet("agent", { priority: at })]);
      await bed.clock.advance(10);
      checks.add(bed.controller.progress());
    }
    assert.ok(checks.size > 2 && checks.size <= 11, `${checks.size} checks in a second`);
  });
});

Deno.test("openTaints() names DaemonSets that come later and get no pods on tainted nodes", async () => {
  const bed = openBed([clusterConfig(), rawNode({ name: "a" })]);
  await whileRunning(bed, bed.controller, async () => {
    await bed.clock.advance(2_000);
    furnish(bed.cluster, [
      rawDaemonSet("late"),
      rawDaemonSet("arm-only", { nodeSelector: { "kubernetes.io/arch": "arm64" } }),
      rawDaemonSet("careful", { tolerations: [{ operator: "Exists" }] }),
    ]);
    await bed.clock.advance(1_000);
    assert.match(bed.controller.progress()?.message ?? "", /get no new pods .*: kube-system\/late\.$/);
    assert.equal(taintLine(bed.cluster), "a:amd64");
  });
});

Deno.test("openTaints() pauses, with a warning, while a pod without the toleration finds no node", async () => {
  const says = "0/1 nodes are available: 1 node(s) had untolerated taint(s).";
  const waits = rawTaintPod({ name: "waits", says });
  const objects = [clusterConfig(), rawNode({ name: "a", taints: [ours("amd64")] }), rawNode({ name: "b" }), waits];
  const bed = openBed(objects, refusing(403, ({ verb, plural }) => verb === "patch" && plural === "pods"));
  await whileRunning(bed, bed.controller, async () => {
    await bed.clock.advance(9_000);
    assert.equal(taintLine(bed.cluster), "a:amd64 b:");
    assert.equal(conditionOf(bed.cluster), "False Paused");
    assert.deepEqual(bed.recorded.map(({ type, reason }) => `${type} ${reason}`), ["Warning ArchTaintsPaused"]);
    bed.cluster.drop(Resource.pods, "team/waits");
    await bed.clock.advance(1_000);
    assert.equal(taintLine(bed.cluster), "a:amd64 b:amd64");
  });
});

Deno.test("openTaints() writes to a node whose kubelet and label disagree nothing but one event", async () => {
  const bed = openBed([clusterConfig(), rawNode({ name: "odd", reported: "arm64", label: "amd64" })]);
  await runFor(bed, bed.controller, 60_000);
  assert.equal(taintLine(bed.cluster), "odd:");
  const warnings = bed.recorded.filter(({ reason }) => reason === "ArchTaintDisagreement");
  assert.deepEqual(warnings.map(({ object }) => `${object.kind} ${object.name}`), ["Node odd"]);
  assert.match(warnings[0]?.message ?? "", /kubelet reports arm64 .* says amd64/);
});

Deno.test("openTaints() frees all nodes when the config leaves, and touches none before it has seen a config", async () => {
  const bed = openBed([rawNode({ name: "a", taints: [ours("arm64")] }), rawNode({ name: "b" })]);
  bed.setPresence("absent");
  await whileRunning(bed, bed.controller, async () => {
    await bed.clock.advance(5_000);
    assert.equal(taintLine(bed.cluster), "a:arm64 b:");
    bed.setPresence("present");
    await bed.clock.advance(5_000);
    assert.equal(taintLine(bed.cluster), "a:amd64 b:amd64");
    // The object may be gone before anybody has looked.
    bed.setPresence("deleting");
    bed.setPresence("absent");
    await bed.clock.advance(1_000);
    assert.equal(taintLine(bed.cluster), "a: b:");
    furnish(bed.cluster, [rawNode({ name: "c", taints: [ours("amd64")] })]);
    await bed.clock.advance(1_000);
    assert.equal(taintLine(bed.cluster), "a: b: c:");
  });
});

Deno.test("openTaints() writes at most 10 objects a second", async () => {
  const bed = openBed([clusterConfig(), ...Array.from({ length: 100 }, (_, at) => rawNode({ name: `n${at}` }))]);
  await whileRunning(bed, bed.controller, async () => {
    for (let second = 1; bed.writes.length < 100; second++) {
      await bed.clock.advance(1_000);
      assert.ok(bed.writes.length <= 10 * second + 1, `${bed.writes.length} after ${second} s`);
      assert.ok(second <= 11, `only ${bed.writes.length} after ${second} s`);
    }
    assert.equal(new Set(bed.writes).size, 100);
  });
});
