import assert from "node:assert/strict";
import type { KubeApi } from "../../../lib/k8s/api.ts";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { assertDoneOnce, lookOnce, openPlay, phaseOf, settle } from "./play.ts";

/** Carries one write out, loses its answer, and refuses all later ones. */
function dying(api: KubeApi): KubeApi {
  let isDead = false;
  const write = async <T>(send: () => Promise<T>): Promise<T> => {
    if (!isDead) await send();
    isDead = true;
    throw new ApiError("Cannot write: killed.", { status: 0 });
  };
  return {
    ...api,
    create: (...call) => write(() => api.create(...call)),
    patch: (...call) => write(() => api.patch(...call)),
    delete: (...call) => write(() => api.delete(...call)),
  };
}

Deno.test("N-015 a leader that is killed at every one of its writes is followed by another, and nothing is done twice", async () => {
  const scene = openPlay();
  const { outside } = scene;
  let leaders = 0;
  for (; phaseOf(scene) !== "Upgraded"; leaders++) {
    assert.ok(leaders < 100, `${leaders} leaders, and it is still ${phaseOf(scene)}`);
    await lookOnce(scene, { api: dying(scene.deps.api), outside }).catch(() => {});
    settle(scene);
  }
  assert.ok(leaders > 10, `${leaders} leaders were needed`);
  assertDoneOnce(scene);
});
