import assert from "node:assert/strict";
import type { PodImageInspector } from "../../../lib/placement/images/pod_image_inspector.ts";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { MAX_IMAGES } from "../../../lib/placement/decide/images_to_inspect.ts";
import { fact, gatesOf } from "../../lib/placement/decide/make.ts";
import { openScene, type Scene, whileRunning } from "../make.ts";
import { turn } from "../../support/until.ts";
import { controllerOf, gated, podIn } from "./make.ts";

/** Images under way by namespace; those of namespaces that begin with `evil` are answered when a test says so, or never. */
class Registries {
  readonly underWay = new Map<string, number>();
  readonly asked: string[] = [];
  readonly #answers: (() => void)[] = [];

  readonly images: PodImageInspector = {
    ...openScene().images,
    inspect: async ({ images, identity: { namespace } }, signal) => {
      this.asked.push(`${namespace} ${images[0]?.image}`);
      this.#count(namespace, images.length);
      try {
        if (namespace.startsWith("evil")) await this.#answer(signal);
        signal.throwIfAborted();
        return images.map((use) => ({ ...use, inspection: fact("multi").inspection }));
      } finally {
        this.#count(namespace, -images.length);
      }
    },
  };

  get total(): number {
    return [...this.underWay.values()].reduce((sum, count) => sum + count, 0);
  }

  answerOne(): void {
    this.#answers.shift()?.();
  }

  #answer(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#answers.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #count(namespace: string, more: number): void {
    this.underWay.set(namespace, (this.underWay.get(namespace) ?? 0) + more);
  }
}

const openMany = () => {
  const [scene, registries] = [openScene(), new Registries()];
  return { scene, registries, controller: controllerOf({ ...scene, images: registries.images }) };
};

/** Plays with a controller over these registries; nothing is under way when it has ended. */
async function whileMany(play: (many: ReturnType<typeof openMany>) => Promise<void>): Promise<void> {
  const many = openMany();
  await whileRunning(many.scene, many.controller, () => play(many));
  assert.equal(many.registries.total, 0);
}

function podOfMany(scene: Scene, namespace: string, name: string): KubeObject {
  const pod = podIn(scene, namespace, { name });
  const containers = Array.from({ length: MAX_IMAGES }, (_, at) => ({ name: `c${at}`, image: `evil/${name}-${at}` }));
  return { ...pod, spec: { ...Object(pod.spec), containers } };
}

Deno.test("a namespace whose registries never answer has 2 000 images under way, and a pod of another is placed at once", () =>
  whileMany(async ({ scene, registries }) => {
    for (let at = 0; at < 30; at++) scene.cluster.put(Resource.pods, podOfMany(scene, "evil", `p${at}`));
    await scene.clock.advance(20_000);
    assert.equal(registries.total, 2_000);
    scene.cluster.put(Resource.pods, podIn(scene, "good", { name: "good" }));
    await scene.clock.advance(100);
    const placed = scene.cluster.find("pods", "good/good") ?? assert.fail("no pod");
    assert.deepEqual(gatesOf(placed), []);
  }));

Deno.test("no number of namespaces has more than 4 000 images under way, and every pod is released at its deadline", () =>
  whileMany(async ({ scene, registries, controller }) => {
    for (let at = 0; at < 90; at++) scene.cluster.put(Resource.pods, podOfMany(scene, `evil-${at % 45}`, `p${at}`));
    await scene.clock.advance(20_000);
    const most = registries.total;
    assert.ok(most >= 4_000 && most < 4_000 + MAX_IMAGES, `${most} images under way`);
    await scene.clock.advance(60_000);
    assert.equal(registries.total, 0);
    assert.equal(controller.gatedPods(), 0);
    assert.equal(registries.asked.length, most / MAX_IMAGES, "a pod without a turn was inspected all the same");
  }));

Deno.test("pods beyond the limit have their turn when others are answered, stopped or deleted", () =>
  whileMany(async ({ scene, registries }) => {
    for (let at = 0; at < 14; at++) {
      scene.cluster.put(Resource.pods, podOfMany(scene, "evil", `p${at}`));
      await scene.clock.advance(500);
    }
    const asked = (): readonly string[] => registries.asked.map((one) => one.split("/")[1] ?? "");
    const first = Array.from({ length: 10 }, (_, at) => `p${at}-0`);
    assert.deepEqual(asked(), first);
    registries.answerOne();
    await scene.clock.advance(500);
    assert.deepEqual(asked(), [...first, "p10-0"], "answered");
    scene.cluster.drop(Resource.pods, "evil/p11");
    await scene.clock.advance(500);
    scene.cluster.drop(Resource.pods, "evil/p5");
    await scene.clock.advance(500);
    assert.deepEqual(asked(), [...first, "p10-0", "p12-0"], "deleted");
  }));

Deno.test("a pod that needs no inspection any more leaves its turn to others, though it cannot be patched", () =>
  whileMany(async ({ scene, registries }) => {
    const { api } = scene.cluster;
    const { patch } = api;
    api.patch = async (...call) => {
      if (call[1].name === "p10") throw new ApiError("Cannot patch: a policy forbids it.", { status: 403 });
      return await patch(...call);
    };
    const pods = Array.from({ length: 12 }, (_, at) => podOfMany(scene, "evil", `p${at}`));
    for (const pod of pods) {
      scene.cluster.put(Resource.pods, pod);
      await scene.clock.advance(500);
    }
    const { spec, ...rest } = pods[10] ?? assert.fail("no pod");
    const nodeSelector = { "kubernetes.io/arch": "arm64" };
    scene.cluster.put(Resource.pods, { ...rest, spec: { ...Object(spec), nodeSelector } });
    await scene.clock.advance(500);
    assert.equal(registries.asked.length, 10);
    registries.answerOne();
    await scene.clock.advance(500);
    assert.deepEqual(registries.asked.slice(10), ["evil evil/p11-0"]);
  }));

Deno.test("a pod that is deleted while it is read again is not inspected any more, and takes no place", () =>
  whileMany(async ({ scene, registries, controller }) => {
    const { api } = scene.cluster;
    const { patch, get } = api;
    let refusals = 1;
    api.patch = async (...call) => {
      if (refusals-- > 0) throw new ApiError("Cannot patch: it has changed.", { status: 409, reason: "Conflict" });
      return await patch(...call);
    };
    api.get = async (...call) => {
      const changed = gated("web", { image: "other" });
      scene.cluster.put(Resource.pods, changed);
      const read = await get(...call);
      scene.cluster.drop(Resource.pods, "shop/web");
      // The watch is faster than the answer.
      for (let count = 0; count < 5; count++) await turn();
      return read;
    };
    scene.cluster.put(Resource.pods, gated("web"));
    await scene.clock.advance(1_000);
    assert.deepEqual([registries.asked, controller.gatedPods()], [["shop multi"], 0]);
  }));
