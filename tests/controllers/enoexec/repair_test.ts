// Evictions of pods that run a program of another architecture, with a fake clock.
import assert from "node:assert/strict";
import { ApiError } from "../../../lib/k8s/errors.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { ended, makeArchNode, makeFailedPod } from "../../lib/enoexec/make.ts";
import { cluster as makeClusterConfig, configs } from "../../lib/placement/make.ts";
import { MemoryCluster } from "../../support/memory_kube_api.ts";
import type { MemoryCall } from "../../support/memory_kube_api.ts";
import { type MonitorScene, NAMESPACE, openMonitorScene } from "./make.ts";

const SETTINGS = { namespace: NAMESPACE, watchesPods: true, repairs: true };

interface Repaired {
  readonly scene: MonitorScene;
  /** The pods whose eviction was asked for, in order. */
  readonly evictions: string[];
}

/** Pods of a ReplicaSet on an arm64 node, with an image for amd64 alone; `onEvict` may refuse. */
function openRepairScene(onEvict: (name: string) => void = () => {}, settings = SETTINGS): Repaired {
  const evictions: string[] = [];
  const cluster = new MemoryCluster();
  const clusterConfig = makeClusterConfig();
  const before = ({ verb, plural, body, name = "" }: MemoryCall): void => {
    const kind: unknown = Reflect.get(Object(body), "kind");
    if (verb !== "create" || plural !== "pods" || kind !== "Eviction") return;
    evictions.push(name);
    onEvict(name);
    cluster.drop(Resource.pods, `shop/${name}`);
  };
  const scene = openMonitorScene({ api: cluster.client(before), settings, configsOf: () => configs(clusterConfig) });
  cluster.put(Resource.nodes, makeArchNode("arm64"));
  cluster.put(Resource.namespaces, { metadata: { name: "shop" } });
  return { scene: { ...scene, cluster }, evictions };
}

function strayPod(name: string, owner = "web"): KubeObject {
  const ownerReferences = owner === "" ? [] : [{ kind: "ReplicaSet", name: owner, controller: true }];
  return makeFailedPod({ status: { state: ended(1) }, metadata: { name, uid: `uid-${name}`, ownerReferences } });
}

async function fail({ scene }: Repaired, pod: KubeObject): Promise<void> {
  const { name } = pod.metadata;
  scene.cluster.put(Resource.pods, pod);
  const involvedObject = { kind: "Pod", namespace: "shop", name };
  scene.cluster.put(Resource.events, {
    metadata: { name: `${name}.x`, namespace: "shop" },
    ...{ involvedObject, type: "Warning", reason: "BackOff" },
  });
  await scene.clock.advance(0);
}

Deno.test("a pod that its owner makes again, and Archway would place elsewhere, is evicted once, and an event says why", async () => {
  const repaired = openRepairScene();
  const { scene, evictions } = repaired;
  await scene.run(async () => {
    await fail(repaired, strayPod("web-1"));
    assert.deepEqual(evictions, ["web-1"]);
    assert.deepEqual(scene.told.map(({ reason }) => reason), ["ExecFormatError", "ArchAwareExecFormatRepaired"]);
    assert.deepEqual(scene.counted, ["status", "evicted"]);
  });
});

Deno.test("nothing is evicted without the switch, and no bare pod", async () => {
  for (const [settings, owner] of [[{ ...SETTINGS, repairs: false }, "web"], [SETTINGS, ""]] as const) {
    const repaired = openRepairScene(undefined, settings);
    await repaired.scene.run(async () => {
      await fail(repaired, strayPod("web-1", owner));
      await repaired.scene.clock.advance(60_000);
      assert.deepEqual(repaired.evictions, []);
    });
  }
});

Deno.test("evictions are ten seconds apart, and three an hour of one owner", async () => {
  const repaired = openRepairScene();
  const { scene, evictions } = repaired;
  await scene.run(async () => {
    for (const name of ["web-1", "web-2", "web-3", "web-4"]) await fail(repaired, strayPod(name));
    assert.equal(evictions.length, 1);
    await scene.clock.advance(10_000);
    assert.equal(evictions.length, 2);
    await scene.clock.advance(60_000);
    assert.deepEqual([evictions.length, scene.counted.filter((word) => word === "refused")], [3, ["refused"]]);
    await fail(repaired, strayPod("other-1", "other"));
    assert.equal(evictions.at(-1), "other-1");
  });
});

Deno.test("an eviction that a budget forbids is tried again, for an hour", async () => {
  const repaired = openRepairScene(() => {
    throw new ApiError("the budget needs it", { status: 429, reason: "TooManyRequests" });
  });
  const { scene, evictions } = repaired;
  await scene.run(async () => {
    await fail(repaired, strayPod("web-1"));
    await scene.clock.advance(31_000);
    assert.deepEqual([evictions.length, scene.counted], [2, ["status", "deferred", "deferred"]]);
    await scene.clock.advance(2 * 3_600_000);
    assert.equal(scene.counted.at(-1), "refused");
    assert.ok(evictions.length > 100 && evictions.length < 130, String(evictions.length));
  });
});
