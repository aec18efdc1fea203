import assert from "node:assert/strict";
import { parseMachine, parseMachineConfigPool, parseMachineSet } from "../../../lib/vocabulary/machines.ts";

Deno.test("M-341 M-342 parseMachineConfigPool() reads counts and conditions", () => {
  const pool = parseMachineConfigPool({
    metadata: { name: "worker" },
    spec: {
      paused: true,
      nodeSelector: { matchLabels: { a: "b" } },
      configuration: { name: "rendered-2", source: [{ kind: "MachineConfig", name: "00-worker" }] },
    },
    status: {
      machineCount: 3,
      updatedMachineCount: 2,
      configuration: { name: "rendered-1" },
      conditions: [{ type: "Updated", status: "False" }],
    },
  });
  const { name, isPaused, isDegraded, isUpdated, machineCount, updatedMachineCount } = pool;
  assert.deepEqual([name, isPaused, isDegraded, isUpdated, machineCount, updatedMachineCount], [
    ...["worker", true, false, false, 3, 2],
  ]);
  assert.deepEqual([pool.rendered, pool.currentRendered, pool.degradedMessage], ["rendered-2", "rendered-1", ""]);
  const source = [{ kind: "MachineConfig", name: "00-worker" }];
  assert.deepEqual(pool.configuration, { name: "rendered-2", source });
  assert.equal(pool.nodeSelector.kind, "requirements");
  const fresh = parseMachineConfigPool({ metadata: { name: "new" } });
  assert.deepEqual([fresh.rendered, fresh.currentRendered, fresh.nodeSelector.kind], ["", "", "everything"]);
});

Deno.test("parseMachineConfigPool() calls no pool updated whose status is of what it was before", () => {
  const updatedOf = (status: Readonly<Record<string, unknown>>): boolean =>
    parseMachineConfigPool({
      metadata: { name: "worker", generation: 4 },
      status: { conditions: [{ type: "Updated", status: "True" }], ...status },
    }).isUpdated;
  assert.deepEqual([{}, { observedGeneration: 4 }, { observedGeneration: 3 }].map(updatedOf), [true, true, false]);
});

Deno.test("parseMachineConfigPool() takes the message of what makes a pool degraded", () => {
  const message = 'Node worker-2 is reporting: "disk full"';
  const conditions = [
    { type: "Degraded", status: "True", message: "" },
    { type: "RenderDegraded", status: "False", message: "earlier" },
    { type: "NodeDegraded", status: "True", message },
  ];
  const degraded = parseMachineConfigPool({ metadata: { name: "worker" }, status: { conditions } });
  assert.deepEqual([degraded.isDegraded, degraded.degradedMessage], [true, message]);
});

Deno.test("parseMachineConfigPool() calls a pool degraded whose image cannot be built, as its node controller does not", () => {
  const message = "Failed to build OS image for pool worker (MachineOSBuild: worker-1): arm64: BuildFailed";
  const conditions = [
    { type: "Degraded", status: "False", message: "" },
    { type: "ImageBuildDegraded", status: "True", message },
  ];
  const pool = parseMachineConfigPool({ metadata: { name: "worker" }, status: { conditions } });
  assert.deepEqual([pool.isDegraded, pool.degradedMessage], [true, message]);
});

const CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/labels";

Deno.test("parseMachineSet() puts the labels of its nodes together, and knows which it announces", () => {
  const set = parseMachineSet({
    metadata: { name: "a", annotations: { [CAPACITY]: "kubernetes.io/arch=arm64, a=1" } },
    spec: {
      template: {
        metadata: { labels: { "machine.openshift.io/cluster-api-machine-role": "infra" } },
        spec: { metadata: { labels: { a: "2" } } },
      },
    },
    status: { replicas: 3, readyReplicas: 2 },
  });
  assert.deepEqual(set.announced, { "kubernetes.io/arch": "arm64", a: "1" });
  assert.deepEqual(set.nodeLabels, { "node-role.kubernetes.io/infra": "", "kubernetes.io/arch": "arm64", a: "2" });
  assert.deepEqual([set.replicas, set.readyReplicas, set.makesMachines], [3, 2, true]);
});

Deno.test("parseMachine() reads its set, its phase and its node", () => {
  const labels = { "machine.openshift.io/cluster-api-machineset": "a" };
  const status = { phase: "Running", nodeRef: { name: "n-1" } };
  const machine = { name: "m", machineSet: "a", phase: "Running", nodeName: "n-1" };
  assert.deepEqual(parseMachine({ metadata: { name: "m", labels }, status }), machine);
  const bare = { name: "m", machineSet: "", phase: "", nodeName: undefined };
  assert.deepEqual(parseMachine({ metadata: { name: "m" } }), bare);
});
