import assert from "node:assert/strict";
import type { UpgradesDeps } from "../../../controllers/upgrades/deps.ts";
import { openDrains } from "../../../controllers/upgrades/drains.ts";
import { silentLogger } from "../../../lib/log.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import type { DrainMode } from "../../../lib/upgrades/decide/types/plan.ts";
import { NOW_MS, rawNode } from "../../lib/upgrades/decide/make.ts";
import { makeConfig, makePlan } from "../../lib/upgrades/decide/make_plan.ts";
import { openScene } from "../make.ts";
import { type MemoryCall, refusing } from "../../support/memory_kube_api.ts";
import { pool } from "./make.ts";

const NODE = "n1";

function pod(name: string, node = NODE): KubeObject {
  const metadata = { name, namespace: "shop", uid: `uid-${name}` };
  return { metadata, spec: { nodeName: node }, status: { phase: "Running" } };
}

/** Its gauges are `n1=1`, in order. */
const openBed = (before: (call: MemoryCall) => void = () => {}) => {
  const { cluster, clock, events } = openScene();
  const [gauges, calls]: [string[], string[]] = [[], []];
  const api = cluster.client((call) => {
    calls.push(`${call.verb} ${call.plural}`);
    before(call);
  });
  const refuse = (): never => assert.fail("nothing outside is asked");
  const deps: UpgradesDeps = {
    adviseOnWorkloads: () => Promise.resolve([]),
    ...{ readApi: api, api, clock, events, log: silentLogger, namespace: "here" },
    outside: { readers: refuse, createSilence: refuse, endSilence: refuse, notify: refuse },
    gauges: {
      set: (metric, labels, value) => {
        assert.equal(metric, "upgradeoperator_node_drain_timeout");
        gauges.push(`${labels["node_name"]}=${value}`);
      },
      clear: () => void gauges.push("clear"),
      clearGroup: refuse,
    },
  };
  const drains = openDrains(deps);
  const look = (drainMode: DrainMode = "DeleteAndStripFinalizers", laterMs = 0): Promise<void> =>
    drains.check(
      { plan: makePlan({ drainMode }), config: makeConfig() },
      { nowMs: NOW_MS + laterMs, signal: new AbortController().signal },
    );
  cluster.put(Resource.machineConfigPools, pool("worker", { machines: 2, updated: 1 }));
  cluster.put(Resource.nodes, rawNode(NODE, { cordonedMinutes: 200, state: "Working" }));
  return { cluster, gauges, calls, drains, look };
};

Deno.test("M-303 no node is looked at when all workers are done, whatever the control plane does", async () => {
  const bed = openBed();
  bed.cluster.put(Resource.machineConfigPools, pool("worker", { machines: 2, updated: 2 }));
  bed.cluster.put(Resource.machineConfigPools, pool("master", { machines: 2, updated: 1 }));
  await bed.look();
  assert.deepEqual(bed.calls, ["list machineconfigpools"]);
});

Deno.test("nodes whose drains are in their time cost no request each, however many there are", async () => {
  const bed = openBed();
  for (let at = 0; at < 50; at++) {
    bed.cluster.put(Resource.nodes, rawNode(`early-${at}`, { cordonedMinutes: 10, state: "Working" }));
  }
  await bed.look("Observe");
  assert.deepEqual(bed.calls, ["list machineconfigpools", "list nodes", "list poddisruptionbudgets", "list pods"]);
  assert.deepEqual(bed.gauges, [`${NODE}=1`]);
});

Deno.test("a round over 50 drains that are late costs at most ten requests", async () => {
  const bed = openBed();
  for (let at = 0; at < 50; at++) {
    bed.cluster.put(Resource.nodes, rawNode(`late-${at}`, { cordonedMinutes: 300 + at, state: "Working" }));
  }
  await bed.look("Observe");
  assert.equal(bed.calls.length, 10, bed.calls.join(", "));
});

Deno.test("late nodes take turns: each is helped on and reported, however many others are stuck for longer", async () => {
  const bed = openBed();
  bed.cluster.drop(Resource.nodes, NODE);
  for (let at = 0; at < 200; at++) {
    bed.cluster.put(Resource.nodes, rawNode(`late-${at}`, { cordonedMinutes: 400 - at, state: "Working" }));
    const stuck = pod(`pod-${at}`, `late-${at}`);
    const metadata = { ...stuck.metadata, ...at < 198 ? { finalizers: ["example.com/keep"] } : {} };
    bed.cluster.put(Resource.pods, { ...stuck, metadata });
  }
  for (let round = 0; round < 50; round++) await bed.look("Delete", round * 60_000);
  for (const at of [198, 199]) assert.equal(bed.cluster.find("pods", `shop/pod-${at}`), undefined);
  const reported = bed.gauges.filter((gauge) => gauge.endsWith("=1"));
  assert.equal(new Set(reported).size, 200);
  assert.deepEqual(bed.gauges.filter((gauge) => gauge.endsWith("=0")), [], "whose turn has not come stays reported");
});

Deno.test("pods of nodes that a person cordoned stay, however many those are and for how long, and in every mode", async () => {
  for (const mode of ["Delete", "DeleteAndStripFinalizers"] as const) {
    const bed = openBed();
    bed.cluster.put(Resource.pods, pod("drained"));
    for (let at = 0; at < 8; at++) {
      const state = at % 2 === 0 ? { state: "Done" } : {};
      bed.cluster.put(Resource.nodes, rawNode(`by-hand-${at}`, { cordonedMinutes: 50_000, ...state }));
      bed.cluster.put(Resource.pods, pod(`kept-${at}`, `by-hand-${at}`));
    }
    await bed.look(mode);
    const left = Array.from({ length: 8 }, (_, at) => bed.cluster.find("pods", `shop/kept-${at}`));
    assert.equal(left.includes(undefined), false, mode);
    assert.equal(bed.cluster.find("pods", "shop/drained"), undefined, `${mode}: they take nobody's turn`);
    assert.equal(bed.calls.filter((call) => call === "delete pods").length, 1);
    assert.deepEqual(bed.gauges, [`${NODE}=1`]);
  }
});

Deno.test("a node whose drain the machine config operator has given up for now is helped on all the same", async () => {
  const bed = openBed();
  const configs = ["rendered-worker-1", "rendered-worker-2"] as const;
  bed.cluster.put(Resource.nodes, rawNode("n2", { cordonedMinutes: 200, state: "Degraded", configs }));
  bed.cluster.put(Resource.pods, pod("stuck", "n2"));
  await bed.look();
  assert.equal(bed.cluster.find("pods", "shop/stuck"), undefined);
});

Deno.test("nodes that are not Ready are named while nodes are upgraded, and no longer when that is over", async () => {
  const bed = openBed();
  const message = "Kubelet stopped posting node status.";
  const status = { conditions: [{ type: "Ready", status: "Unknown", message }] };
  bed.cluster.put(Resource.nodes, { ...rawNode("n2"), status });
  await bed.look("Observe");
  assert.deepEqual(bed.drains.notReady(), [{ name: "n2", message }]);
  bed.cluster.put(Resource.machineConfigPools, pool("worker", { machines: 2, updated: 2 }));
  await bed.look("Observe");
  assert.deepEqual(bed.drains.notReady(), []);
});

Deno.test("M-306 a node that is not cordoned any more is reported as that once", async () => {
  const bed = openBed();
  await bed.look("Observe");
  assert.deepEqual(bed.gauges, [`${NODE}=1`]);
  bed.cluster.put(Resource.nodes, rawNode(NODE, { state: "Working" }));
  await bed.look("Observe");
  await bed.look("Observe");
  assert.deepEqual(bed.gauges, [`${NODE}=1`, `${NODE}=0`]);
});

Deno.test("M-308 a node that is gone is not reported any more, nor is any when no upgrade goes on", async () => {
  const bed = openBed();
  await bed.look("Observe");
  assert.deepEqual(bed.gauges, [`${NODE}=1`]);
  bed.cluster.drop(Resource.nodes, NODE);
  await bed.look("Observe");
  assert.deepEqual(bed.gauges, [`${NODE}=1`, `${NODE}=0`]);
  bed.drains.forget();
  assert.equal(bed.gauges.includes("clear"), false, "nothing is left to clear");
  bed.cluster.put(Resource.nodes, rawNode(NODE, { cordonedMinutes: 200, state: "Working" }));
  await bed.look("Observe");
  bed.drains.forget();
  assert.equal(bed.gauges.at(-1), "clear");
});

Deno.test("M-313 a pod that cannot be deleted keeps no other from it, and a list that fails is an error", async () => {
  const bed = openBed(refusing(403, ({ verb, name }) => verb === "delete" && name === "a"));
  for (const name of ["a", "b"]) bed.cluster.put(Resource.pods, pod(name));
  await bed.look();
  assert.notEqual(bed.cluster.find("pods", "shop/a"), undefined);
  assert.equal(bed.cluster.find("pods", "shop/b"), undefined);
  await assert.rejects(openBed(refusing(500, ({ plural }) => plural === "pods")).look(), /away/);
});

Deno.test("removals count as forbidden while each of them is, and until no upgrade goes on", async () => {
  let refused = ["a", "b"];
  const bed = openBed(refusing(403, ({ verb, name = "" }) => verb === "delete" && refused.includes(name)));
  for (const name of ["a", "b"]) bed.cluster.put(Resource.pods, pod(name));
  assert.equal(bed.drains.isForbidden(), false);
  await bed.look();
  assert.equal(bed.drains.isForbidden(), true);
  bed.drains.forget();
  assert.equal(bed.drains.isForbidden(), false);
  await bed.look();
  assert.equal(bed.drains.isForbidden(), true);
  refused = ["a"];
  await bed.look();
  assert.equal(bed.drains.isForbidden(), false, "the right is there: something else refuses the one");
});
