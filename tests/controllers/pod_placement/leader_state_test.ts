import assert from "node:assert/strict";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import type { PodPlacement } from "../../../controllers/pod_placement/controller.ts";
import { openScene, type Scene, whileRunning, withMetadata } from "../make.ts";
import { controllerOf, gated } from "./make.ts";

const FORBIDDEN = new ApiError('pods "web" is forbidden: User "u" cannot patch resource "pods" in API group ""', {
  status: 403,
});
const DENIED = new ApiError('pods "web" is forbidden: ValidatingAdmissionPolicy "x" denied request', { status: 403 });

/** Plays with a controller that has watched an empty cluster for a minute. */
async function whileWatched(play: (scene: Scene, controller: PodPlacement) => Promise<void>): Promise<void> {
  const scene = openScene();
  const controller = controllerOf(scene);
  await whileRunning(scene, controller, async () => {
    await scene.clock.advance(60_000);
    await play(scene, controller);
  });
}

Deno.test("leaderHealth() is impaired while gated pods may not be listed, and healthy some time after they may", async () => {
  const scene = openScene();
  const { list } = scene.cluster.api;
  let isForbidden = true;
  scene.cluster.api.list = (...call) =>
    isForbidden ? Promise.reject(new ApiError("no", { status: 403 })) : list(...call);
  const controller = controllerOf(scene);
  assert.deepEqual(controller.leaderHealth(), { kind: "unproven" });
  await whileRunning(scene, controller, async () => {
    assert.deepEqual(controller.leaderHealth(), { kind: "impaired", impairment: "CannotWatchPods" });
    isForbidden = false;
    await scene.clock.advance(60_000);
    assert.deepEqual(controller.leaderHealth(), { kind: "healthy" });
  });
});

Deno.test("leaderHealth() is unproven between terms, however healthy the last one was", async () => {
  const scene = openScene();
  const controller = controllerOf(scene);
  await whileRunning(scene, controller, async () => {
    await scene.clock.advance(60_000);
    assert.deepEqual(controller.leaderHealth(), { kind: "healthy" });
  });
  assert.deepEqual(controller.leaderHealth(), { kind: "unproven" });
});

Deno.test("leaderHealth() is impaired after ten seconds without a list", async () => {
  const scene = openScene();
  scene.cluster.api.list = () => Promise.reject(new ApiError("away", { status: 0 }));
  const controller = controllerOf(scene);
  await whileRunning(scene, controller, async () => {
    await scene.clock.advance(9_000);
    assert.deepEqual(controller.leaderHealth(), { kind: "unproven" });
    await scene.clock.advance(2_000);
    assert.deepEqual(controller.leaderHealth(), { kind: "impaired", impairment: "CannotWatchPods" });
  });
});

Deno.test("leaderHealth() is impaired ten seconds after the right to patch pods went, until a patch is taken", () =>
  whileWatched(async ({ cluster, clock }, controller) => {
    cluster.beforePatch = () => Promise.reject(FORBIDDEN);
    cluster.put(Resource.pods, gated("web"));
    await clock.advance(5_000);
    assert.deepEqual(controller.leaderHealth(), { kind: "unproven" });
    await clock.advance(10_000);
    assert.deepEqual(controller.leaderHealth(), { kind: "impaired", impairment: "CannotReleasePods" });
    cluster.beforePatch = () => {};
    await clock.advance(6_000);
    assert.deepEqual(controller.leaderHealth(), { kind: "healthy" });
  }));

Deno.test("leaderHealth() stays impaired while the API server takes twenty seconds for each refusal", () =>
  whileWatched(async ({ cluster, clock }, controller) => {
    let delayMs = 0;
    const { patch } = cluster.api;
    cluster.api.patch = async (...call) => {
      if (call[0] !== Resource.pods) return await patch(...call);
      await clock.sleep(delayMs, call[2].signal);
      throw FORBIDDEN;
    };
    cluster.put(Resource.pods, gated("web"));
    await clock.advance(15_000);
    delayMs = 20_000;
    for (let second = 0; second < 60; second++) {
      assert.deepEqual(controller.leaderHealth(), { kind: "impaired", impairment: "CannotReleasePods" }, `${second} s`);
      await clock.advance(1_000);
    }
  }));

Deno.test("leaderHealth() stays healthy while a policy denies every patch of one namespace's pods", () =>
  whileWatched(async ({ cluster, clock }, controller) => {
    cluster.beforePatch = () => Promise.reject(DENIED);
    for (const name of ["a", "b", "c"]) cluster.put(Resource.pods, gated(name));
    await clock.advance(60_000);
    assert.deepEqual(controller.leaderHealth(), { kind: "healthy" });
  }));

Deno.test("leaderHealth() stays healthy while pods of many namespaces are refused with words of other faults", () =>
  whileWatched(async ({ cluster, clock }, controller) => {
    const words = '"failed calling webhook" and "cannot patch resource "pods"" are in a name';
    cluster.beforePatch = () => Promise.reject(new ApiError(words, { status: 422 }));
    for (const namespace of ["shop", "bank"]) cluster.put(Resource.pods, withMetadata(gated("web"), { namespace }));
    await clock.advance(60_000);
    assert.deepEqual(controller.leaderHealth(), { kind: "healthy" });
  }));
