import assert from "node:assert/strict";
import { openDaemonSetWatch } from "../../../controllers/daemonsets/controller.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { makeSettings } from "../../support/placement_settings.ts";
import { BUNDLED, fact } from "../../lib/placement/decide/make.ts";
import {
  answering,
  answeringWhile,
  makeWorkload,
  openScene,
  runFor,
  type Scene,
  whileRunning,
  withMetadata,
} from "../make.ts";

const NARROW = makeWorkload("DaemonSet", "narrow", "single-amd64");

function watchOf(
  { cluster, clock, images, events }: Scene,
  liveArchitectures: () => readonly string[] | undefined,
): ReturnType<typeof openDaemonSetWatch> {
  const settings = makeSettings();
  const parts = { api: cluster.api, images, events, clock, log: silentLogger, settings };
  return openDaemonSetWatch({ ...parts, liveArchitectures });
}

Deno.test("openDaemonSetWatch() reports the nodes that cannot run the images, and of no others", async () => {
  const bundled = { ...makeWorkload("DaemonSet", "bundled", ""), spec: { template: { spec: BUNDLED } } };
  const scene = openScene(NARROW, makeWorkload("DaemonSet", "wide", "multi"), bundled);
  await runFor(scene, watchOf(scene, () => ["amd64", "arm64"]), 0);
  assert.deepEqual(scene.recorded.map(({ object }) => object), [
    { apiVersion: "apps/v1", kind: "DaemonSet", namespace: "shop", name: "narrow", uid: "uid-narrow" },
  ]);
  assert.match(scene.recorded[0]?.message ?? "", /\{arm64\}.*single-amd64/);
  assert.ok(scene.requests.every(({ priority }) => priority === "prewarm"));
});

Deno.test("openDaemonSetWatch() waits for the nodes to be known", async () => {
  const scene = openScene(NARROW);
  let live: readonly string[] | undefined;
  await whileRunning(scene, watchOf(scene, () => live), async () => {
    assert.deepEqual([scene.requests, scene.recorded], [[], []]);
    live = ["arm64"];
    await scene.clock.advance(1_100);
    assert.equal(scene.recorded.length, 1);
  });
});

Deno.test("openDaemonSetWatch() repeats itself only when the words change, and anew for a new DaemonSet", async () => {
  const scene = openScene();
  const put = async (image: string, replicas: number): Promise<void> => {
    const workload = makeWorkload("DaemonSet", "narrow", image);
    scene.cluster.put(Resource.daemonSets, { ...workload, status: { replicas } });
    await scene.clock.advance(0);
  };
  await whileRunning(scene, watchOf(scene, () => ["amd64", "arm64"]), async () => {
    await put("single-amd64", 1);
    await put("single-amd64", 2);
    assert.equal(scene.recorded.length, 1);
    await put("single-arm64", 2);
    assert.equal(scene.recorded.length, 2);
    scene.cluster.drop(Resource.daemonSets, "shop/narrow");
    await scene.clock.advance(0);
    await put("single-arm64", 1);
    assert.equal(scene.recorded.length, 3);
  });
});

Deno.test("openDaemonSetWatch() reports a DaemonSet whose registry failed, once it answers", async () => {
  const scene = openScene(NARROW);
  let isFailing = true;
  const failing = answering(scene, async (request, signal) => {
    const inspected = await scene.images.inspect(request, signal);
    return isFailing ? inspected.map(({ image }) => fact(`no ${image}`)) : inspected;
  });
  await whileRunning(scene, watchOf(failing, () => ["arm64"]), async () => {
    assert.deepEqual([scene.requests.length, scene.recorded], [1, []]);
    isFailing = false;
    await scene.clock.advance(60_000);
    assert.deepEqual(scene.recorded.map(({ object }) => object.name), ["narrow"]);
  });
});

Deno.test("openDaemonSetWatch() gives turns to a namespace while the registry of another does not answer", async () => {
  const scene = openScene();
  let isAway = true;
  const away = answeringWhile(scene, ({ identity }) => isAway && identity.namespace === "slow");
  for (let at = 0; at < 20; at++) {
    const slow = makeWorkload("DaemonSet", `slow-${at}`, "single-amd64");
    scene.cluster.put(Resource.daemonSets, withMetadata(slow, { namespace: "slow" }));
  }
  await whileRunning(scene, watchOf(away, () => ["arm64"]), async () => {
    scene.cluster.put(Resource.daemonSets, NARROW);
    await scene.clock.advance(10_000);
    assert.deepEqual(scene.recorded.map(({ object }) => object.name), ["narrow"]);
    isAway = false;
    await scene.clock.advance(120_000);
    assert.equal(scene.recorded.length, 21);
  });
});
