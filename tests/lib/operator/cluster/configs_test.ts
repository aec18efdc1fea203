// The configs in force: which listener is called for which change, what applies to a namespace, and that an invalid config
// counts as absent.
import assert from "node:assert/strict";
import { openConfigs } from "../../../../lib/operator/cluster/configs.ts";
import { type KubeObject, Resource } from "../../../../lib/k8s/types.ts";
import { selectConfigs } from "../../../../lib/placement/decide/config/selection.ts";
import { furnish, openScene, whileRunning } from "../../../controllers/make.ts";
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

const openBed = (...objects: readonly KubeObject[]) => {
  const scene = openScene(...objects);
  const log = keepLog();
  const configs = openConfigs({ api: scene.cluster.api, clock: scene.clock, log });
  const heard: (string | undefined)[] = [];
  configs.onChange((namespace) => void heard.push(namespace));
  const namesOf = (namespace: string): readonly string[] =>
    configs.forNamespace(namespace).namespace.map(({ name }) => name);
  const put = async (...changed: readonly KubeObject[]): Promise<void> => {
    furnish(scene.cluster, changed);
    await scene.clock.advance(0);
  };
  return { scene, log, configs, heard, namesOf, put };
};

Deno.test("openConfigs() says unread, absent, present and leaving of the cluster config", async () => {
  const { scene, configs, heard, put } = openBed();
  assert.deepEqual([configs.presence(), configs.hasSynced()], ["unread", false]);
  await whileRunning(scene, configs, async () => {
    assert.deepEqual([configs.presence(), configs.hasSynced()], ["absent", true]);
    await put(clusterConfig({ fallbackArchitecture: "arm64" }));
    assert.deepEqual([configs.presence(), configs.cluster()?.fallbackArchitecture], ["present", "arm64"]);
    const deletionTimestamp = "2026-11-21T12:00:00Z";
    await put(clusterConfig({}, { deletionTimestamp, finalizers: ["x"] }));
    assert.equal(configs.presence(), "deleting");
    assert.deepEqual(heard, [undefined, undefined]);
  });
});

Deno.test("openConfigs() reports no change of the condition about the architecture taints, and that of every other", async () => {
  const { scene, configs, heard, put } = openBed();
  const say = async (...conditions: readonly (readonly [type: string, message: string])[]): Promise<number> => {
    const status = { conditions: conditions.map(([type, message]) => ({ type, status: "True", message })) };
    await put({ ...clusterConfig({}), status });
    return heard.length;
  };
  await whileRunning(scene, configs, async () => {
    assert.equal(await say(["Available", "yes"]), 1);
    assert.equal(await say(["Available", "yes"], ["ArchitectureTaints", "1 of 500"]), 1);
    assert.equal(await say(["Available", "yes"], ["ArchitectureTaints", "100 of 500"]), 1);
    assert.equal(await say(["Available", "no"], ["ArchitectureTaints", "100 of 500"]), 2);
  });
});

Deno.test("openConfigs() gives a namespace its own configs, and reports whose have changed", async () => {
  const { scene, configs, heard, namesOf, put } = openBed();
  await whileRunning(scene, configs, async () => {
    await put(namespaceConfig("shop", "a"), namespaceConfig("shop", "b"), namespaceConfig("bank", "a"));
    assert.deepEqual([namesOf("shop"), namesOf("bank"), namesOf("other")], [["a", "b"], ["a"], []]);
    assert.equal(configs.forNamespace("shop").namespace, configs.forNamespace("shop").namespace);
    scene.cluster.drop(Resource.namespaceConfigs, "shop/a");
    scene.cluster.drop(Resource.namespaceConfigs, "bank/a");
    await scene.clock.advance(0);
    assert.deepEqual([namesOf("shop"), namesOf("bank")], [["b"], []]);
    assert.deepEqual(heard, ["shop", "shop", "bank", "shop", "bank"]);
  });
});

Deno.test("openConfigs() keeps a share of one namespace's configs and logs it; others, and what becomes small, have room", async () => {
  const names = Array.from({ length: 20 }, (_, at) => `c${at}`);
  const many = names.map((name) => namespaceConfig("many", name, MAXIMAL));
  const { scene, configs, log, namesOf, put } = openBed(...many, namespaceConfig("shop", "a", MAXIMAL));
  await whileRunning(scene, configs, async () => {
    assert.equal(namesOf("shop").length, 1);
    const kept = namesOf("many");
    assert.ok(kept.length > 0 && kept.length < names.length, `${kept.length} are kept`);
    const warned = log.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields["namespace"]);
    assert.deepEqual(warned, ["many"]);
    await put(...names.map((name) => namespaceConfig("many", name)));
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
    const { scene, configs, put } = openBed();
    await whileRunning(scene, configs, async () => {
      await put(...order);
      const { namespace } = selectConfigs(pod, configs.forNamespace("shop"));
      assert.deepEqual(namespace.map(({ name }) => name), ["first", "oldest", "a", "b"]);
    });
  }
});

Deno.test("openConfigs() leaves out a config that cannot be read, also one that could be before", async () => {
  const { scene, configs, namesOf, put } = openBed();
  await whileRunning(scene, configs, async () => {
    await put(namespaceConfig("shop", "a"));
    assert.deepEqual(namesOf("shop"), ["a"]);
    await put(namespaceConfig("shop", "a", "no spec at all"));
    assert.deepEqual(namesOf("shop"), []);
  });
});
