import assert from "node:assert/strict";
import { TAINT_WRITES, type TaintGauges } from "../../../lib/taints/metrics.ts";
import { ProcessMetrics } from "../../support/process_metrics.ts";

const metrics = new ProcessMetrics();

async function samples(name: string, gauges?: TaintGauges): Promise<readonly string[]> {
  return (await metrics.text({}, gauges)).split("\n").filter((line) => line.startsWith(name))
    .map((line) => line.slice(name.length).trim());
}

const GAUGES: TaintGauges = {
  nodes: { tainted: 41, left: 3, optedOut: 2, disagreeing: 1, unknown: 4 },
  lackingPods: 17,
};

Deno.test("TAINT_GAUGES show nodes by their state, and the pods that lack a toleration", async () => {
  assert.deepEqual(await samples("archway_arch_taint_nodes", GAUGES), [
    '{state="tainted"} 41',
    '{state="left"} 3',
    '{state="optedOut"} 2',
    '{state="disagreeing"} 1',
    '{state="unknown"} 4',
  ]);
  assert.deepEqual(await samples("archway_arch_taint_lacking_pods", GAUGES), ["17"]);
});

Deno.test("TAINT_GAUGES are at zero in every state where this replica manages no taints, also after it did", async () => {
  for (const gauges of [undefined, GAUGES]) await metrics.text({}, gauges);
  const zeros = Object.keys(GAUGES.nodes).map((state) => `{state="${state}"} 0`);
  assert.deepEqual(await samples("archway_arch_taint_nodes"), zeros);
  assert.deepEqual(await samples("archway_arch_taint_lacking_pods"), ["0"]);
});

Deno.test("writes for taints are counted by their kind, and all are there at zero", async () => {
  const counted = (change: string, count: number): string => `{change="${change}"} ${count}`;
  const name = "archway_arch_taint_writes_total";
  assert.deepEqual(await samples(name), TAINT_WRITES.map((change) => counted(change, 0)));
  for (const change of ["taint", "failOpen", "taint"] as const) metrics.taints[name].inc({ change });
  const wanted = { taint: 2, failOpen: 1, tolerate: 0, untaint: 0 };
  assert.deepEqual(await samples(name), TAINT_WRITES.map((change) => counted(change, wanted[change])));
});
