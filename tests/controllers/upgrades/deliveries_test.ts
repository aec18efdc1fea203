import assert from "node:assert/strict";
import type { UpgradesDeps } from "../../../controllers/upgrades/deps.ts";
import { type ApplyContext, applyEffects } from "../../../controllers/upgrades/effects.ts";
import { openClusterReader } from "../../../lib/upgrades/cluster/cluster_reader.ts";
import { OsImages } from "../../../lib/upgrades/cluster/os_images.ts";
import { readInput } from "../../../lib/upgrades/cluster/plan_input.ts";
import { refusing } from "../../support/memory_kube_api.ts";
import { NAMESPACE, NOTHING_BESIDE, openUpgradeScene } from "./make.ts";
import { entryOf, lookOnce, planOf } from "./play.ts";

Deno.test("a notification that one sink refuses: the next leader reads which sinks have it, and the history is not lost", async () => {
  const scene = openUpgradeScene();
  const known: (readonly string[])[] = [];
  const notify = (isRefused: boolean): typeof scene.deps.outside.notify => async ({ id, state }, { record }) => {
    if (state !== "StateStarted") return;
    known.push(record.sinksOf(id));
    if (!isRefused) return;
    await record.write(id, ["event"]);
    await record.write(id, ["event", "service log"]);
    throw new Error("the webhook is away");
  };
  const look = async (isRefused: boolean): Promise<string> => {
    const end = await lookOnce(scene, { outside: { ...scene.deps.outside, notify: notify(isRefused) } });
    return end.kind === "failed" ? end.message : end.kind;
  };
  await look(true);
  assert.equal(await look(true), "the webhook is away");
  const deliveries: unknown = Object(planOf(scene)?.["status"]).deliveries;
  assert.deepEqual(deliveries, [{ id: "plan/4.20.5/StateStarted", sinks: ["event", "service log"] }]);
  assert.match(JSON.stringify(entryOf(scene)), /the webhook is away/);
  await look(false);
  assert.deepEqual(known.at(-1), ["event", "service log"]);
  const sent: unknown = entryOf(scene)["notifications"];
  assert.match(JSON.stringify(sent), /StateStarted/);
});

Deno.test("a notification that is given up is not waited for: its gauge is 0; one that is tried again leaves it as it is", async () => {
  const { deps, gauges } = openUpgradeScene();
  const outside = { ...deps.outside, notify: () => Promise.reject(new Error("away")) };
  const sent = async (onFailure: "stop" | "log"): Promise<unknown> => {
    gauges.clear();
    const notification = { id: "n", state: "StateScaleSkipped", version: "v", upgradeAt: "", description: "" } as const;
    const context = await applyContextOf(deps);
    const { failure } = await applyEffects(
      [{ kind: "notify", notification, onFailure }],
      { ...deps, outside },
      context,
    );
    return [failure, gauges.get('upgrade_notification_failed{"event":"StateScaleSkipped"}')];
  };
  assert.deepEqual(await sent("log"), [undefined, 0]);
  assert.deepEqual(await sent("stop"), ["away", undefined]);
});

Deno.test("once the update is requested, no notification from before is waited for; a request that fails changes nothing", async () => {
  const scene = openUpgradeScene();
  const { deps, gauges } = scene;
  const context = await applyContextOf(deps);
  const gauge = 'upgrade_notification_failed{"event":"StateSkipped"}';
  const request = { kind: "patchClusterVersion", patch: { spec: { channel: "c" } }, resourceVersion: "" } as const;
  gauges.set(gauge, 1);
  scene.fault = refusing(503, ({ verb }) => verb === "patch");
  assert.deepEqual([(await applyEffects([request], deps, context)).failure, gauges.get(gauge)], ["away", 1]);
  scene.fault = () => {};
  const resourceVersion = context.facts?.clusterVersion.resourceVersion ?? "";
  const { failure } = await applyEffects([{ ...request, resourceVersion }], deps, context);
  assert.deepEqual([failure, gauges.get(gauge)], [undefined, undefined]);
});

async function applyContextOf({ clock, readApi }: UpgradesDeps): Promise<ApplyContext> {
  const { signal } = new AbortController();
  const { facts } = await readInput({ readApi, namespace: NAMESPACE }, { nowMs: clock.nowMs(), signal });
  return {
    ...{ ...NOTHING_BESIDE, facts, signal, nowMs: clock.nowMs(), osImages: new OsImages(readApi) },
    reader: openClusterReader(readApi, signal),
    setDesiredVersion: () => Promise.resolve(),
    deliveries: { sinksOf: () => [], write: () => Promise.resolve() },
  };
}
