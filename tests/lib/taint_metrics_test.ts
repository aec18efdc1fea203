// The metrics of architecture taints: what the leader sees at a scrape, and nothing where they are not managed.
import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { openMetrics } from "../../lib/metrics.ts";
import { openTaintMetrics, TAINT_WRITES, type TaintGauges, type TaintMetrics } from "../../lib/taint_metrics.ts";

function open(): { readonly metrics: TaintMetrics; samples(name: string): Promise<readonly string[]> } {
  const registry = new Registry();
  const metrics = openTaintMetrics(registry);
  const samples = async (name: string): Promise<readonly string[]> =>
    (await registry.metrics()).split("\n").filter((line) => line.startsWith(name))
      .map((line) => line.slice(name.length).trim());
  return { metrics, samples };
}

const GAUGES: TaintGauges = {
  nodes: { tainted: 41, left: 3, optedOut: 2, disagreeing: 1, unknown: 4 },
  lackingPods: 17,
};

Deno.test("setTaints() shows nodes by their state, and the pods that lack a toleration", async () => {
  const { metrics, samples } = open();
  metrics.setTaints(GAUGES);
  assert.deepEqual(await samples("archway_arch_taint_nodes"), [
    '{state="tainted"} 41',
    '{state="left"} 3',
    '{state="optedOut"} 2',
    '{state="disagreeing"} 1',
    '{state="unknown"} 4',
  ]);
  assert.deepEqual(await samples("archway_arch_taint_lacking_pods"), ["17"]);
});

Deno.test("setTaints() is at zero in every state where this replica manages no taints, also after it did", async () => {
  const { metrics, samples } = open();
  for (const gauges of [undefined, GAUGES, undefined]) metrics.setTaints(gauges);
  const zeros = Object.keys(GAUGES.nodes).map((state) => `{state="${state}"} 0`);
  assert.deepEqual(await samples("archway_arch_taint_nodes"), zeros);
  assert.deepEqual(await samples("archway_arch_taint_lacking_pods"), ["0"]);
});

Deno.test("taintWrite() counts each kind of write for itself, and all are there at zero", async () => {
  const { metrics, samples } = open();
  const counted = (change: string, count: number): string => `{change="${change}"} ${count}`;
  const name = "archway_arch_taint_writes_total";
  assert.deepEqual(await samples(name), TAINT_WRITES.map((change) => counted(change, 0)));
  for (const change of ["taint", "failOpen", "taint"] as const) metrics.taintWrite(change);
  const wanted = { taint: 2, failOpen: 1, tolerate: 0, untaint: 0 };
  assert.deepEqual(await samples(name), TAINT_WRITES.map((change) => counted(change, wanted[change])));
});

Deno.test("expose() shows the taints as they are at the scrape", async () => {
  const none = { gatedPods: 0, unadmittedPods: 0, cachedInspections: 0, registries: [] };
  const gauges = { ...none, isLeading: true, isGating: true, memory: { rss: 0, heapUsed: 0 }, taints: GAUGES };
  const { text } = await openMetrics().expose(gauges);
  assert.match(text, /^archway_arch_taint_nodes\{state="tainted"\} 41$/m);
  assert.match(text, /^archway_arch_taint_lacking_pods 17$/m);
});
