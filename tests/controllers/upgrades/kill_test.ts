import assert from "node:assert/strict";
import type { KubeApi } from "../../../lib/k8s/api.ts";
import { ApiError } from "../../../lib/k8s/errors.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { textAt } from "../../../lib/json.ts";
import { machineSet } from "../../lib/upgrades/decide/make.ts";
import { openUpgradeScene, pool } from "./make.ts";
import { assertDoneOnce, entryOf, lookOnce, rememberingOutside, settle } from "./play.ts";

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
  const scene = openUpgradeScene({ spec: { capacityReservation: true } });
  scene.cluster.put(Resource.machineSets, machineSet("a"));
  scene.cluster.put(Resource.machineConfigPools, pool("worker"));
  const outside = rememberingOutside(scene.deps.outside, scene.clock);
  const phaseOf = (): string => textAt(entryOf(scene), "phase");
  let leaders = 0;
  for (; phaseOf() !== "Upgraded"; leaders++) {
    assert.ok(leaders < 100, `${leaders} leaders, and it is still ${phaseOf()}`);
    await lookOnce(scene, { api: dying(scene.deps.api), outside }).catch(() => {});
    settle(scene);
  }
  assert.ok(leaders > 10, `${leaders} leaders were needed`);
  assertDoneOnce(scene, outside);
});
