import assert from "node:assert/strict";
import type { Controller } from "../../../controllers/controller.ts";
import { openPrewarm } from "../../../controllers/prewarm/controller.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { type Logger, silentLogger } from "../../../lib/log.ts";
import { makeSettings } from "../../support/placement_settings.ts";
import { fact, failedFact } from "../../lib/placement/decide/make.ts";
import { makeUse, openImageBed } from "../../support/image_bed.ts";
import {
  answering,
  answeringWhile,
  makeWorkload,
  openScene,
  runFor,
  type Scene,
  stalling,
  whileRunning,
  withMetadata,
} from "../make.ts";

const TAG_TTL_MS = 300_000;
const PINNED = `app@sha256:${"1".repeat(64)}`;
const KINDS = ["Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"] as const;

function prewarmOf({ cluster, clock, images }: Scene, log: Logger = silentLogger): Controller {
  const settings = makeSettings();
  return openPrewarm({ api: cluster.api, images, clock, log, settings, tagTtlMs: TAG_TTL_MS });
}

function requestedImages({ requests }: Scene): readonly string[] {
  return requests.flatMap(({ images }) => images.map(({ image }) => image));
}

Deno.test("openPrewarm() inspects the templates of all five kinds, at the lowest priority", async () => {
  const scene = openScene(...KINDS.map((kind) => makeWorkload(kind, "web", `image-of-${kind}`)));
  await runFor(scene, prewarmOf(scene), 0);
  const expected = KINDS.map((kind) => `image-of-${kind}`);
  assert.deepEqual([...requestedImages(scene)].sort(), expected.sort());
  assert.ok(scene.requests.every(({ priority }) => priority === "prewarm"));
});

Deno.test("openPrewarm() inspects a template again when it changes, and not after its end", async () => {
  const scene = openScene();
  await whileRunning(scene, prewarmOf(scene), async () => {
    scene.cluster.put(Resource.deployments, makeWorkload("Deployment", "web", "app:v1"));
    await scene.clock.advance(0);
    scene.cluster.put(Resource.deployments, makeWorkload("Deployment", "web", "app:v2"));
    await scene.clock.advance(0);
    assert.deepEqual(requestedImages(scene), ["app:v1", "app:v2"]);
    scene.cluster.drop(Resource.deployments, "shop/web");
    await scene.clock.advance(2 * TAG_TTL_MS);
    assert.deepEqual(requestedImages(scene), ["app:v1", "app:v2"]);
  });
});

Deno.test("openPrewarm() renews what is cached of a tag before it expires, and of a digest never", async () => {
  const workloads = [["tagged", "app:v1"], ["pinned", PINNED]] as const;
  const scene = openScene(...workloads.map(([name, image]) => makeWorkload("Deployment", name, image)));
  const known = answering(scene, async (request, signal) => {
    await scene.images.inspect(request, signal);
    return request.images.map((use) => ({ ...use, inspection: fact("multi").inspection }));
  });
  await runFor(scene, prewarmOf(known), TAG_TTL_MS);
  assert.ok(requestedImages(scene).filter((image) => image === "app:v1").length >= 2);
  assert.equal(requestedImages(scene).filter((image) => image === PINNED).length, 1);
});

Deno.test("openPrewarm() keeps an image known without a break, at two look-ups in the TTL of a tag at most", async () => {
  const image = "registry.example/app:v1";
  const scene = openScene(makeWorkload("Deployment", "web", image));
  const { clock } = scene;
  const bed = openImageBed({ clock });
  const scope = { namespace: "shop", serviceAccount: "", pullSecrets: [] };
  const lives = 8;
  await whileRunning(scene, prewarmOf({ ...scene, images: bed.images }), async () => {
    await clock.advance(1_000);
    for (let atMs = 0; atMs < lives * TAG_TTL_MS; atMs += 15_000) {
      assert.ok(bed.known.recall([makeUse(image)], scope) !== undefined, `unknown after ${atMs} ms`);
      await clock.advance(15_000);
    }
  });
  assert.ok(bed.registry.reads.length <= lives * 2, `${bed.registry.reads.length} look-ups`);
});

Deno.test("openPrewarm() goes on when one inspection is rejected", async () => {
  const scene = openScene(makeWorkload("Job", "once", "app:v1"));
  let isFaulty = true;
  const faulty = answeringWhile(scene, () => isFaulty, () => Promise.reject(new Error("no")));
  await whileRunning(scene, prewarmOf(faulty), async () => {
    isFaulty = false;
    await scene.clock.advance(60_000);
    assert.deepEqual(requestedImages(scene), ["app:v1"]);
  });
});

Deno.test("openPrewarm() gives turns to a namespace while the registry of another never answers", async () => {
  const scene = openScene();
  for (let at = 0; at < 60; at++) {
    const slow = makeWorkload("Deployment", `slow-${at}`, "slow:v1");
    scene.cluster.put(Resource.deployments, withMetadata(slow, { namespace: "slow" }));
  }
  await whileRunning(scene, prewarmOf(stalling(scene, "slow")), async () => {
    scene.cluster.put(Resource.deployments, makeWorkload("Deployment", "web", "app:v1"));
    await scene.clock.advance(10_000);
    assert.deepEqual(requestedImages(scene), ["app:v1"]);
  });
});

Deno.test("openPrewarm() goes on later with a template whose registry did not answer, also of a digest", async () => {
  const scene = openScene(makeWorkload("Job", "once", PINNED));
  let isAway = true;
  const away = answeringWhile(scene, () => isAway);
  await whileRunning(scene, prewarmOf(away), async () => {
    await scene.clock.advance(60_000);
    isAway = false;
    await scene.clock.advance(60_000);
    assert.deepEqual(requestedImages(scene), [PINNED]);
  });
});

Deno.test("openPrewarm() asks a registry that fails for ever once an hour in the end, and from the beginning once it has answered", async () => {
  const scene = openScene(makeWorkload("Job", "once", "app:v1"));
  let isFailing = true;
  const failing = answering(scene, async (request, signal) => {
    await scene.images.inspect(request, signal);
    return request.images.map((use) => ({ ...use, inspection: fact(isFailing ? "no app" : "multi").inspection }));
  });
  const hours = async (count: number): Promise<number> => {
    const before = scene.requests.length;
    for (let minute = 0; minute < count * 60; minute++) await scene.clock.advance(60_000);
    return scene.requests.length - before;
  };
  await whileRunning(scene, prewarmOf(failing), async () => {
    assert.ok(await hours(2) <= 8);
    assert.equal(await hours(4), 4);
    isFailing = false;
    await hours(2);
    isFailing = true;
    assert.ok(await hours(1) >= 5);
  });
});

Deno.test("openPrewarm() goes on later with a template whose registry failed, until the failure is one that stays", async () => {
  const scene = openScene(makeWorkload("Job", "once", PINNED));
  const [soon, never] = [["transient", "ServerError"], ["permanent", "ManifestUnknown"]] as const;
  const failing = answering(scene, async (request, signal) => {
    const [kind, reason] = [soon, never][scene.requests.length] ?? assert.fail("inspected again");
    await scene.images.inspect(request, signal);
    return request.images.map(({ image }) => failedFact(image, { kind, reason }));
  });
  await whileRunning(scene, prewarmOf(failing), async () => {
    await scene.clock.advance(59_000);
    assert.equal(scene.requests.length, 1);
    await scene.clock.advance(600_000);
    assert.equal(scene.requests.length, 2);
  });
});

Deno.test("openPrewarm() bounds the keys of a namespace whose templates come and go before their turn", async () => {
  const scene = openScene();
  const warned: unknown[] = [];
  const log: Logger = { ...silentLogger, with: () => log, warn: (_, fields) => warned.push(fields) };
  await whileRunning(scene, prewarmOf(stalling(scene, ""), log), async () => {
    for (let at = 0; at < 5_100; at++) {
      scene.cluster.put(Resource.deployments, makeWorkload("Deployment", `web-${at}`, "app:v1"));
      scene.cluster.drop(Resource.deployments, `shop/web-${at}`);
      if (at === 0) await scene.clock.advance(0);
    }
    await scene.clock.advance(0);
    assert.deepEqual(warned, [{ queue: "prewarm", group: "shop" }]);
  });
});
