// Taking the taint off nodes while others change their taints.
import assert from "node:assert/strict";
import { Resource } from "../../../lib/k8s/types.ts";
import { openTaintLifter } from "../../../lib/tainting/lifter.ts";
import { taintLine } from "../../controllers/taints/make.ts";
import { MemoryCluster } from "../../support/memory_kube_api.ts";
import { ours, rawNode, RULE } from "../taints/make.ts";

const PACE = { turn: () => Promise.resolve() };
const FOREIGN = { key: "dedicated", value: "gpu", effect: "NoSchedule" };

Deno.test("lift() reads a node again whose taints another changed in between, and takes ours off all the same", async () => {
  const cluster = new MemoryCluster();
  cluster.put(Resource.nodes, rawNode({ name: "a", taints: [ours("amd64")] }));
  let changes = 0;
  cluster.beforePatch = () => {
    if (changes++ === 0) cluster.put(Resource.nodes, rawNode({ name: "a", taints: [FOREIGN, ours("amd64")] }));
  };
  const lifter = openTaintLifter({ api: cluster.api, key: RULE.key, pace: PACE });
  assert.deepEqual(await lifter.lift({ signal: new AbortController().signal }), { lifted: ["a"], left: [] });
  assert.equal(taintLine(cluster), "a:gpu");
});

Deno.test("lift() reports which nodes it could not free, and why", async () => {
  const cluster = new MemoryCluster();
  cluster.put(Resource.nodes, rawNode({ name: "a", taints: [ours("amd64")] }));
  let changes = 0;
  cluster.beforePatch = () => {
    const taints = changes++ % 2 === 0 ? [FOREIGN, ours("amd64")] : [ours("amd64"), FOREIGN];
    cluster.put(Resource.nodes, rawNode({ name: "a", taints }));
  };
  const lifter = openTaintLifter({ api: cluster.api, key: RULE.key, pace: PACE });
  const { lifted, left } = await lifter.lift({ signal: new AbortController().signal });
  assert.deepEqual([lifted, left.map(({ node }) => node)], [[], ["a"]]);
});
