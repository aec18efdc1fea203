import assert from "node:assert/strict";
import { parseNode } from "../../../../lib/vocabulary/node.ts";
import { type KubeObject, Resource } from "../../../../lib/k8s/types.ts";
import { openClusterReader } from "../../../../lib/upgrades/cluster/cluster_reader.ts";
import { adviseDrains, drainSettingsOf } from "../../../../lib/upgrades/cluster/drains.ts";
import type { DrainAdvice } from "../../../../lib/upgrades/decide/drain/types.ts";
import type { DrainMode } from "../../../../lib/upgrades/decide/types/plan.ts";
import { MemoryCluster } from "../../../support/memory_kube_api.ts";
import { NOW_MS, rawNode } from "../decide/make.ts";
import { makeConfig, makePlan } from "../decide/make_plan.ts";

const NODES = ["n1", "n2"];
const MANY = Array.from({ length: 1_000 }, (_, at) => `label-${at}`);

function largePod(name: string, { node, app }: { readonly node: string; readonly app: string }): KubeObject {
  return {
    metadata: {
      ...{ name, namespace: "shop", uid: `uid-${name}` },
      labels: { ...Object.fromEntries(MANY.map((key) => [key, "value"])), app },
      finalizers: MANY.map((key) => `example.com/${key}`),
    },
    spec: { nodeName: node },
  };
}

async function advise(
  cluster: MemoryCluster,
  mode: DrainMode,
): Promise<readonly Extract<DrainAdvice, { readonly kind: "draining" }>[]> {
  const { signal } = new AbortController();
  const api = cluster.client();
  const nodes = NODES.map((name) => parseNode(rawNode(name, { cordonedMinutes: 200 })));
  const settings = drainSettingsOf(makePlan({ drainMode: mode }).spec, makeConfig());
  const reader = openClusterReader(api, signal);
  const advice = await adviseDrains(nodes, { reader, settings, nowMs: NOW_MS });
  return advice.filter((one) => one.kind === "draining");
}

for (const mode of ["Observe", "Delete", "DeleteAndStripFinalizers"] as const) {
  Deno.test(`adviseDrains() under ${mode} keeps of each pod what tells it from others, however large it is`, async () => {
    const cluster = new MemoryCluster();
    const selector = { matchLabels: { app: "db" } };
    cluster.put(Resource.podDisruptionBudgets, { metadata: { name: "db", namespace: "shop" }, spec: { selector } });
    for (const node of NODES) {
      for (let at = 0; at < 20; at++) {
        cluster.put(Resource.pods, largePod(`${node}-${at}`, { node, app: at === 0 ? "db" : "web" }));
      }
    }
    const advice = await advise(cluster, mode);
    const all = advice.flatMap(({ actions, withheld }) => [...actions, ...withheld]);
    const strategies = Object.groupBy(all, ({ strategy }) => strategy);
    assert.deepEqual(Object.entries(strategies).map(([name, actions]) => `${name} ${actions.length}`).toSorted(), [
      ...["DEFAULT-FINALIZER 38", "DELETE 38", "PDB-DELETE 2", "PDB-FINALIZER 2"],
    ]);
    const kept = JSON.stringify(advice).length;
    assert.ok(kept < all.length * 300, `${kept} bytes`);
    assert.deepEqual(cluster.lists.map((list) => list.split("?")[0]?.split(" ")[0]), [
      ...["poddisruptionbudgets", "pods", "pods"],
    ]);
  });
}

Deno.test("ClusterReader keeps a bounded part of all budgets, however many and large they are", async () => {
  const cluster = new MemoryCluster();
  const values = Array.from({ length: 64 }, (_, at) => `${at}`.padStart(60, "x"));
  const matchExpressions = Array.from({ length: 16 }, (_, at) => ({ key: `key-${at}`, operator: "In", values }));
  for (let at = 0; at < 100; at++) {
    const metadata = { name: `budget-${at}`, namespace: `team-${at % 10}` };
    cluster.put(Resource.podDisruptionBudgets, { metadata, spec: { selector: { matchExpressions } } });
  }
  const { drain } = await openClusterReader(cluster.client(), new AbortController().signal).budgets();
  const kept = JSON.stringify([...drain]).length;
  assert.ok(kept < 4.5 * 2 ** 20, `${kept} bytes`);
});
