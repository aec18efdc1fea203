import assert from "node:assert/strict";
import { textAt } from "../../../../lib/json.ts";
import { Resource } from "../../../../lib/k8s/types.ts";
import { liftTaints } from "../../../../lib/taints/cluster/write.ts";
import { taintLine } from "../../../controllers/taints/make.ts";
import { type MemoryCall, MemoryCluster } from "../../../support/memory_kube_api.ts";
import { ours, rawNode, RULE } from "../decide/make.ts";

const FOREIGN = { key: "dedicated", value: "gpu", effect: "NoSchedule" };

function lift({ api }: Pick<MemoryCluster, "api">): ReturnType<typeof liftTaints> {
  const limiter = { wait: () => Promise.resolve() };
  return liftTaints({ api, key: RULE.key, limiter }, { signal: new AbortController().signal });
}

Deno.test("lift() reads a node again whose taints another changed in between, and takes ours off all the same", async () => {
  const cluster = new MemoryCluster();
  cluster.put(Resource.nodes, rawNode({ name: "a", taints: [ours("amd64")] }));
  let changes = 0;
  cluster.beforePatch = () => {
    if (changes++ === 0) cluster.put(Resource.nodes, rawNode({ name: "a", taints: [FOREIGN, ours("amd64")] }));
  };
  assert.deepEqual(await lift(cluster), { lifted: ["a"], left: [] });
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
  const { lifted, left } = await lift(cluster);
  assert.deepEqual([lifted, left.map(({ node }) => node)], [[], ["a"]]);
});

Deno.test("lift() sends nothing but lists of nodes and removals of our taint, each behind a test of it", async () => {
  const cluster = new MemoryCluster();
  const mixed = [FOREIGN, ours("amd64"), { key: "cloud", effect: "NoExecute" }, ours("s390x", "NoExecute")];
  for (const [name, taints] of [["a", mixed], ["b", [FOREIGN]], ["c", [ours("arm64")]]] as const) {
    cluster.put(Resource.nodes, rawNode({ name, taints }));
  }
  const calls: MemoryCall[] = [];
  await lift({ api: cluster.client((call) => void calls.push(call)) });
  assert.deepEqual(calls.map(({ verb, plural, name = "" }) => `${verb} ${plural} ${name}`), [
    "list nodes ",
    "patch nodes a",
    "patch nodes c",
  ]);
  assert.equal(cluster.patches.length, 2);
  for (const patch of cluster.patches) {
    const operations = patch.filter(({ path }) => !path.startsWith("/metadata/"));
    assert.deepEqual(operations.map(({ op }) => op), operations.map((_, at) => at % 2 === 0 ? "test" : "remove"));
    for (const [at, operation] of operations.entries()) {
      assert.match(operation.path, /^\/spec\/taints\/\d+$/);
      if (operation.op !== "test") continue;
      assert.deepEqual([textAt(operation.value, "key"), operations[at + 1]?.path], [RULE.key, operation.path]);
    }
  }
});
