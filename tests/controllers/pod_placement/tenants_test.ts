// The pod controller under many pods of silent registries: no other pod waits, and every one of them is released at its own
// deadline. tests/cluster/tenants_test.ts has registries that are slow or fail as well.
import assert from "node:assert/strict";
import { Resource } from "../../../lib/k8s/types.ts";
import { gatesOf } from "../../lib/placement/decide/make.ts";
import { answering, openScene, type Scene, stalling, whileRunning } from "../make.ts";
import { controllerOf, gated, podIn } from "./make.ts";

/** When each pod lost its gate, from its creation (ms). */
function watchReleases(scene: Scene): ReadonlyMap<string, number> {
  const releasedMs = new Map<string, number>();
  const { patch } = scene.cluster.api;
  scene.cluster.api.patch = async (type, target, options) => {
    // Each write takes a while, and only so many are under way: four workers of 20 ms.
    await scene.clock.sleep(20, options.signal);
    const before = await patch(type, target, options);
    const key = `${target.namespace}/${target.name}`;
    const pod = scene.cluster.find("pods", key);
    if (pod !== undefined && gatesOf(pod).length === 0) {
      releasedMs.set(key, scene.clock.nowMs() - Date.parse(String(pod.metadata.creationTimestamp)));
    }
    return before;
  };
  return releasedMs;
}

/** Asserts that so many pods were released by their deadline, and so many of namespace `good` at once. */
function assertInTime(
  releasedMs: ReadonlyMap<string, number>,
  { good, all }: { readonly good: number; readonly all: number },
): void {
  const ofGood = [...releasedMs].filter(([key]) => key.startsWith("good/")).map(([, ms]) => ms);
  assert.equal(ofGood.length, good);
  assert.ok(Math.max(...ofGood) <= 200, `the slowest good pod took ${Math.max(...ofGood)} ms`);
  assert.equal(releasedMs.size, all, "a pod was left");
  const last = Math.max(...releasedMs.values());
  assert.ok(last <= 61_000, `the last took ${last} ms`);
}

Deno.test("pods of one namespace beyond the memory for them are read in their turn, and delay nobody else", async () => {
  const scene = stalling(openScene(), "silent/");
  const releasedMs = watchReleases(scene);
  const { get } = scene.cluster.api;
  const read = new Set<string>();
  scene.cluster.api.get = async (type, target, signal) => {
    await scene.clock.sleep(20, signal);
    if (type === Resource.pods) read.add(`${target.namespace}/${target.name}`);
    return await get(type, target, signal);
  };
  const controller = controllerOf(scene);
  // 46 KB of memory each: 32 MiB are 700 of them.
  const nodeSelectorTerms = Array.from({ length: 650 }, () => ({}));
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
  await whileRunning(scene, controller, async () => {
    for (let count = 0; count < 1_000; count++) {
      const pod = podIn(scene, "evil", { name: `p${count}`, image: "silent/multi" });
      scene.cluster.put(Resource.pods, { ...pod, spec: { ...Object(pod["spec"]), affinity } });
      if (count % 100 === 50) {
        scene.cluster.put(Resource.pods, podIn(scene, "good", { name: `p${count}` }));
      }
      await scene.clock.advance(1);
    }
    await scene.clock.advance(65_000);
  });
  assert.ok(read.size >= 250 && read.size < 400, `${read.size} pods were read`);
  assert.ok([...read].every((key) => key.startsWith("evil/")));
  assertInTime(releasedMs, { good: 10, all: 1_010 });
});

Deno.test("inspections end with the controller, with the pod, and when its images change", async () => {
  const scene = openScene(...["deleted", "changed", "kept"].map((name) => gated(name)));
  const signals: AbortSignal[] = [];
  const silent = answering(scene, async (_request, signal) => {
    signals.push(signal);
    await scene.clock.sleep(Infinity, signal);
    return signal.throwIfAborted() ?? [];
  });
  const open = (): readonly boolean[] => signals.map(({ aborted }) => !aborted);
  await whileRunning(scene, controllerOf(silent), async () => {
    await scene.clock.advance(1_000);
    assert.deepEqual(open(), [true, true, true]);
    scene.cluster.drop(Resource.pods, "shop/deleted");
    scene.cluster.put(Resource.pods, gated("changed", { image: "other" }));
    await scene.clock.advance(1_000);
    assert.deepEqual(open(), [false, false, true, true]);
  });
  assert.deepEqual(open(), [false, false, false, false]);
});
