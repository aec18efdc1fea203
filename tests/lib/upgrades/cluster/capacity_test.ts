import assert from "node:assert/strict";
import { Resource } from "../../../../lib/k8s/types.ts";
import { type CapacityContext, readCapacityLeft, releaseCapacity } from "../../../../lib/upgrades/cluster/capacity.ts";
import { openClusterReader } from "../../../../lib/upgrades/cluster/cluster_reader.ts";
import { NODES_A_ROUND } from "../../../../lib/upgrades/cluster/drains.ts";
import type { DrainMode } from "../../../../lib/upgrades/decide/types/plan.ts";
import { type MemoryCall, MemoryCluster } from "../../../support/memory_kube_api.ts";
import { machine, machineSet, NOW_MS, rawNode } from "../decide/make.ts";
import { makeConfig, makePlan } from "../decide/make_plan.ts";

/** Temporary workers that are being removed, each cordoned for days with a pod on it; and one worker that stays. */
function clusterOf(workers: number): MemoryCluster {
  const cluster = new MemoryCluster();
  cluster.put(Resource.machineSets, machineSet("a-upgrade", { temporary: true, leaving: true }));
  const names = Array.from({ length: workers }, (_, at) => `n-${at}`);
  for (const node of names) {
    cluster.put(Resource.machines, machine(node, { set: "a-upgrade", node, phase: "Deleting" }));
  }
  for (const node of [...names, "stays"]) {
    cluster.put(Resource.nodes, rawNode(node, { cordonedMinutes: 5_000 }));
    const metadata = { namespace: "shop", name: `on-${node}`, uid: `uid-${node}` };
    cluster.put(Resource.pods, { metadata, spec: { nodeName: node } });
  }
  return cluster;
}

async function reconcile(cluster: MemoryCluster, drainMode: DrainMode): Promise<readonly MemoryCall[]> {
  const calls: MemoryCall[] = [];
  const api = cluster.client((call) => void calls.push(call));
  const { signal } = new AbortController();
  const facts: CapacityContext["facts"] = { plan: makePlan({ drainMode }), config: makeConfig() };
  const context = { reader: openClusterReader(api, signal), facts, nowMs: NOW_MS, signal };
  assert.equal((await readCapacityLeft(context)).kind, "drainTimedOut");
  await releaseCapacity(api, { drain: "help", context });
  return calls;
}

Deno.test("a reconcile that removes temporary workers reads each collection once, and the pods of seven nodes", async () => {
  for (const mode of ["Observe", "Delete"] as const) {
    const reads = (await reconcile(clusterOf(50), mode)).filter(({ verb }) => verb === "list" || verb === "get");
    const counts = Object.entries(Object.groupBy(reads, ({ plural }) => plural)).map(([plural, all = []]) =>
      `${plural} ${all.length}`
    );
    assert.deepEqual(counts.toSorted(), [
      ...["machines 1", "machinesets 1", "nodes 1", "poddisruptionbudgets 1", `pods ${NODES_A_ROUND}`],
    ]);
  }
});

Deno.test("pods of temporary workers that are being removed go whoever cordoned those, others stay", async () => {
  const cluster = clusterOf(1);
  await reconcile(cluster, "Delete");
  assert.equal(cluster.find("pods", "shop/on-n-0"), undefined);
  assert.ok(cluster.find("pods", "shop/on-stays") !== undefined);
});
