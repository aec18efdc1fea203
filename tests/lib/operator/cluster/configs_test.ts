// The configs in force: which listener is called for which change, what applies to a namespace, and that an invalid config
// counts as absent.
import assert from "node:assert/strict";
import { type Configs, openConfigs } from "../../../../lib/operator/cluster/configs.ts";
import { type KubeObject, Resource } from "../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { selectConfigs } from "../../../../lib/placement/decide/config/selection.ts";
import { openScene, type Scene, whileRunning } from "../../../controllers/make.ts";
import { clusterConfig } from "../../../controllers/taints/make.ts";
import { keepLog } from "../../../support/logs.ts";
import { make } from "../../placement/decide/make.ts";

function namespaceConfig(
  namespace: string,
  name: string,
  spec: unknown = { plugins: {} },
  creationTimestamp = "2026-01-01T00:00:00Z",
): KubeObject {
  return {
    apiVersion: "multiarch.openshift.io/v1beta1",
    kind: "PodPlacementConfig",
    metadata: { name, namespace, creationTimestamp },
    spec,
  };
}

/** As large as the API server ever took one: 80 KB. */
const MAXIMAL = {
  plugins: {},
  labelSelector: {
    matchExpressions: Array.from({ length: 16 }, (_, at) => ({
      ...{ key: `key-${at}`, operator: "NotIn" },
      values: Array.from({ length: 64 }, (_, each) => `${at}-${each}-`.padEnd(63, "x")),
    })),
  },
};

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
    const status = { conditions: conditions.map(([type, message]) => ({ type, status: "True", message })) };
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

Deno.test("openConfigs() keeps a share of one namespace's configs and logs it; others, and what becomes small, have room", async () => {
  const scene = openScene();
  const log = keepLog();
  const configs = openConfigs({ api: scene.cluster.api, clock: scene.clock, log });
  const names = Array.from({ length: 20 }, (_, at) => `c${at}`);
  for (const name of names) scene.cluster.put(Resource.namespaceConfigs, namespaceConfig("many", name, MAXIMAL));
  scene.cluster.put(Resource.namespaceConfigs, namespaceConfig("shop", "a", MAXIMAL));
  await whileRunning(scene, configs, async () => {
    const namesOf = (namespace: string): readonly string[] => configs.of(namespace).namespace.map(({ name }) => name);
    assert.equal(namesOf("shop").length, 1);
    const kept = namesOf("many");
    assert.ok(kept.length > 0 && kept.length < names.length, `${kept.length} are kept`);
    const warned = log.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields["namespace"]);
    assert.deepEqual(warned, ["many"]);
    for (const name of names) scene.cluster.put(Resource.namespaceConfigs, namespaceConfig("many", name));
    await scene.clock.advance(0);
    assert.equal(namesOf("many").length, names.length);
  });
});

Deno.test("openConfigs() gives the same precedence to configs of one priority, in whatever order they come", async () => {
  const spec = { plugins: {}, priority: 5 };
  const all = [
    namespaceConfig("shop", "oldest", spec, "2025-12-31T23:59:59Z"),
    namespaceConfig("shop", "a", spec),
    namespaceConfig("shop", "b", spec),
    namespaceConfig("shop", "first", { ...spec, priority: 6 }, "2026-02-01T00:00:00Z"),
  ];
  const pod = make.view(make.pod({}, { namespace: "shop" }));
  for (const order of [all, all.toReversed(), [...all.slice(2), ...all.slice(0, 2)]]) {
    const scene = openScene();
    const { configs } = configsOf(scene);
    await whileRunning(scene, configs, async () => {
      for (const config of order) scene.cluster.put(Resource.namespaceConfigs, config);
      await scene.clock.advance(0);
      const { namespace } = selectConfigs(pod, configs.of("shop"));
      assert.deepEqual(namespace.map(({ name }) => name), ["first", "oldest", "a", "b"]);
    });
  }
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
