// What the tests of the pod controller share: gated pods, and a controller over a scene.
import assert from "node:assert/strict";
import { PodPlacement } from "../../../controllers/pod_placement/controller.ts";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { openPlacementMetrics } from "../../support/process_metrics.ts";
import { SCHEDULING_GATE } from "../../../lib/names.ts";
import type { PlacementConfigs } from "../../../lib/placement/decide/config/config.ts";
import { makeSettings } from "../../support/placement_settings.ts";
import { endOf, mark, NO_CONFIGS } from "../../lib/placement/decide/make.ts";
import { makePod, type Scene, withMetadata } from "../make.ts";

export function gated(
  name: string,
  options: { readonly image?: string; readonly gates?: readonly string[] } = {},
): KubeObject {
  const { image = "multi", gates = [SCHEDULING_GATE] } = options;
  const pod = makePod(name, { image, labels: { [mark("scheduling-gate")]: "gated" } });
  const spec = { containers: [{ name: "c", image }], schedulingGates: gates.map((gate) => ({ name: gate })) };
  return { ...pod, spec };
}

export function controllerOf(scene: Scene, config: PlacementConfigs = NO_CONFIGS, workers = 4): PodPlacement {
  const settings = makeSettings({ operatorNamespace: "archway", maxGateAgeMs: 60_000 });
  return new PodPlacement({
    api: scene.cluster.api,
    images: scene.images,
    events: scene.events,
    metrics: openPlacementMetrics(),
    decisions: { record: () => {} },
    clock: scene.clock,
    log: silentLogger,
    settingsOf: () => settings,
    configsOf: () => config,
    liveArchitectures: () => undefined,
    random: () => 0.5,
    workers,
  });
}

export function podOf(scene: Scene, name: string): KubeObject {
  return scene.cluster.find("pods", `shop/${name}`) ?? assert.fail(`no pod ${name}`);
}

/** What placement wrote of the pod `web`. */
export function webOf(scene: Scene): ReturnType<typeof endOf> {
  return endOf(podOf(scene, "web"));
}

export function reasonsOf({ recorded }: Scene): readonly string[] {
  return recorded.map(({ reason }) => reason);
}

/** A gated pod of that namespace, created now. */
export function podIn(
  scene: Scene,
  namespace: string,
  { name, image = "multi" }: { readonly name: string; readonly image?: string },
): KubeObject {
  const creationTimestamp = new Date(scene.clock.nowMs()).toISOString();
  return withMetadata(gated(name, { image }), { namespace, uid: `${namespace}-${name}`, creationTimestamp });
}
