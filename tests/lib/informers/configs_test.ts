// The configs in force: which listener is called for which change, what applies to a namespace, and that an invalid config
// counts as absent.
import assert from "node:assert/strict";
import { type Configs, logLevelOf, openConfigs } from "../../../lib/informers/configs.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { openScene, type Scene, whileRunning } from "../../controllers/make.ts";

function clusterConfig(spec: unknown, metadata: Readonly<Record<string, unknown>> = {}): KubeObject {
  return {
    apiVersion: "multiarch.openshift.io/v1beta1",
    kind: "ClusterPodPlacementConfig",
    metadata: { name: "cluster", uid: "c", generation: 1, ...metadata },
    spec,
  };
}

function namespaceConfig(namespace: string, name: string, spec: unknown = { plugins: {} }): KubeObject {
  return {
    apiVersion: "multiarch.openshift.io/v1beta1",
    kind: "PodPlacementConfig",
    metadata: { name, namespace, creationTimestamp: "2026-01-01T00:00:00Z" },
    spec,
  };
}

function configsOf({ cluster, clock }: Scene): { readonly configs: Configs; readonly heard: (string | undefined)[] } {
  const configs = openConfigs({ api: cluster.api, clock, log: silentLogger });
  const heard: (string | undefined)[] = [];
  configs.onChange((namespace) => void heard.push(namespace));
  return { configs, heard };
}

Deno.test("openConfigs() says unread, absent, present and leaving of the cluster config", async () => {
  const scene = openScene();
  const { configs, heard } = configsOf(scene);
  assert.deepEqual([configs.presence(), configs.hasSynced()], ["unread", false]);
  await whileRunning(scene, configs, async () => {
    assert.deepEqual([configs.presence(), configs.hasSynced()], ["absent", true]);
    scene.cluster.put(Resource.clusterConfigs, clusterConfig({ fallbackArchitecture: "arm64" }));
    await scene.clock.advance(0);
    assert.deepEqual([configs.presence(), configs.cluster()?.fallbackArchitecture], ["present", "arm64"]);
    const deletionTimestamp = "2026-11-21T12:00:00Z";
    scene.cluster.put(Resource.clusterConfigs, clusterConfig({}, { deletionTimestamp, finalizers: ["x"] }));
    await scene.clock.advance(0);
    assert.equal(configs.presence(), "leaving");
    assert.deepEqual(heard, [undefined, undefined]);
  });
});

Deno.test("openConfigs() reports no change of the condition about the architecture taints, and that of every other", async () => {
  const scene = openScene();
  const { configs, heard } = configsOf(scene);
  const put = async (...conditions: readonly (readonly [type: string, message: string])[]): Promise<number> => {
    const status = { conditions: conditions.map(([type, message]) => ({ type, message })) };
    scene.cluster.put(Resource.clusterConfigs, { ...clusterConfig({}), status });
    await scene.clock.advance(0);
    return heard.length;
  };
  await whileRunning(scene, configs, async () => {
    assert.equal(await put(["Available", "yes"]), 1);
    assert.equal(await put(["Available", "yes"], ["ArchitectureTaints", "1 of 500"]), 1);
    assert.equal(await put(["Available", "yes"], ["ArchitectureTaints", "100 of 500"]), 1);
    assert.equal(await put(["Available", "no"], ["ArchitectureTaints", "100 of 500"]), 2);
  });
});

Deno.test("openConfigs() gives a namespace its own configs, and reports whose have changed", async () => {
  const scene = openScene();
  const { configs, heard } = configsOf(scene);
  await whileRunning(scene, configs, async () => {
    const namesOf = (namespace: string): readonly string[] => configs.of(namespace).namespace.map(({ name }) => name);
    scene.cluster.put(Resource.namespaceConfigs, namespaceConfig("shop", "a"));
    scene.cluster.put(Resource.namespaceConfigs, namespaceConfig("shop", "b"));
    scene.cluster.put(Resource.namespaceConfigs, namespaceConfig("bank", "a"));
    await scene.clock.advance(0);
    assert.deepEqual([namesOf("shop"), namesOf("bank"), namesOf("other")], [["a", "b"], ["a"], []]);
    assert.equal(configs.of("shop").namespace, configs.of("shop").namespace);
    scene.cluster.drop(Resource.namespaceConfigs, "shop/a");
    scene.cluster.drop(Resource.namespaceConfigs, "bank/a");
    await scene.clock.advance(0);
    assert.deepEqual([namesOf("shop"), namesOf("bank")], [["b"], []]);
    assert.deepEqual(heard, ["shop", "shop", "bank", "shop", "bank"]);
  });
});

Deno.test("openConfigs() leaves out a config that cannot be read, also one that could be before", async () => {
  const scene = openScene();
  const { configs } = configsOf(scene);
  await whileRunning(scene, configs, async () => {
    scene.cluster.put(Resource.namespaceConfigs, namespaceConfig("shop", "a"));
    await scene.clock.advance(0);
    assert.equal(configs.of("shop").namespace.length, 1);
    scene.cluster.put(Resource.namespaceConfigs, namespaceConfig("shop", "a", "no spec at all"));
    await scene.clock.advance(0);
    assert.deepEqual(configs.of("shop").namespace, []);
  });
});

Deno.test("logLevelOf() reads the verbosity of the cluster config", async () => {
  const scene = openScene();
  const { configs } = configsOf(scene);
  await whileRunning(scene, configs, async () => {
    assert.equal(logLevelOf(configs.cluster()), undefined);
    for (const [logVerbosity, level] of [["Normal", "info"], ["Debug", "debug"], ["TraceAll", "debug"]]) {
      scene.cluster.put(Resource.clusterConfigs, clusterConfig({ logVerbosity }));
      await scene.clock.advance(0);
      assert.equal(logLevelOf(configs.cluster()), level);
    }
  });
});
