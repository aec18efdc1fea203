import assert from "node:assert/strict";
import { openClusterArchitectures } from "../../../../lib/placement/cluster/architectures.ts";
import { type KubeObject, Resource } from "../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { makeNode, openScene, type Scene, whileRunning } from "../../../controllers/make.ts";

const NODE_POOLS = { group: "karpenter.sh", version: "v1", plural: "nodepools", kind: "NodePool", namespaced: false };

function architecturesOf({ cluster, clock }: Scene): ReturnType<typeof openClusterArchitectures> {
  return openClusterArchitectures({ api: cluster.api, clock, log: silentLogger });
}

function nodePool(...architectures: readonly string[]): KubeObject {
  const requirements = [{ key: "kubernetes.io/arch", operator: "In", values: architectures }];
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name: "pool" },
    spec: { template: { spec: { requirements } } },
  };
}

Deno.test("openClusterArchitectures() gives nothing before the nodes are listed, then follows them", async () => {
  const scene = openScene();
  const found = architecturesOf(scene);
  scene.cluster.put(Resource.nodes, makeNode("n1", "arm64"));
  assert.equal(found.current(), undefined);
  await whileRunning(scene, found, async () => {
    assert.deepEqual(found.current(), ["arm64"]);
    assert.equal(found.current(), found.current(), "the same object until something changes");
    scene.cluster.put(Resource.nodes, makeNode("n2", "amd64"));
    await scene.clock.advance(0);
    assert.deepEqual([found.current(), found.architectureOfNode("n2"), found.architectureOfNode("n3")], [
      ["amd64", "arm64"],
      "amd64",
      undefined,
    ]);
    scene.cluster.drop(Resource.nodes, "n1");
    await scene.clock.advance(0);
    assert.deepEqual(found.current(), ["amd64"]);
  });
});

Deno.test("openClusterArchitectures() adds what pools can make, also when their API comes later", async () => {
  const scene = openScene();
  scene.cluster.missing.add("nodepools");
  scene.cluster.missing.add("machinesets");
  scene.cluster.put(Resource.nodes, makeNode("n1", "amd64"));
  const found = architecturesOf(scene);
  await whileRunning(scene, found, async () => {
    assert.deepEqual(found.current(), ["amd64"]);
    scene.cluster.put(NODE_POOLS, nodePool("s390x"));
    scene.cluster.missing.delete("nodepools");
    await scene.clock.advance(10 * 60_000);
    assert.deepEqual(found.current(), ["amd64", "s390x"]);
  });
});

Deno.test("openClusterArchitectures() leaves out nothing while pools are still being listed", async () => {
  const scene = openScene();
  const listed = Promise.withResolvers<void>();
  const api = scene.cluster.client(async ({ verb, plural }) => {
    if (verb === "list" && plural === "nodepools") await listed.promise;
  });
  scene.cluster.put(Resource.nodes, makeNode("n1", "amd64"));
  scene.cluster.put(NODE_POOLS, nodePool("arm64"));
  const found = openClusterArchitectures({ api, clock: scene.clock, log: silentLogger });
  await whileRunning(scene, found, async () => {
    assert.equal(found.current(), undefined);
    listed.resolve();
    await scene.clock.advance(0);
    assert.deepEqual(found.current(), ["amd64", "arm64"]);
  });
});
