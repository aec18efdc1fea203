import assert from "node:assert/strict";
import { gatedPodOf, parseGatedView, PodReader } from "../../../controllers/pod_placement/gated_pod.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { judgeImages } from "../../../lib/placement/decide/judge_images.ts";
import { reduceToImages } from "../../../lib/placement/decide/images_to_inspect.ts";
import { isLarge, parsePod } from "../../../lib/placement/decide/pod/pod_view.ts";
import { makeSettings } from "../../support/placement_settings.ts";
import { AMD64, ARCH, fact, gatesOf, requiredOf, term } from "../../lib/placement/decide/make.ts";
import { openScene, whileRunning } from "../make.ts";
import { controllerOf, gated, podOf, reasonsOf } from "./make.ts";

/** Half a megabyte in each place that a pod's owner fills. */
function large(name: string): KubeObject {
  const pod = gated(name);
  const many = Array.from({ length: 5_000 }, (_, number) => `${number} ${"x".repeat(80)}`);
  const metadata = {
    ...pod.metadata,
    labels: { ...pod.metadata.labels, ...Object.fromEntries(many.map((text) => [text, text])) },
  };
  const tolerations = many.map((key) => ({ key, operator: "Exists" }));
  const preferred = { weight: 1, preference: { matchExpressions: [{ key: "zone", operator: "In", values: many }] } };
  const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preferred] } };
  return { ...pod, metadata, spec: { ...Object(pod["spec"]), tolerations, affinity } };
}

function viewOf(object: KubeObject): NonNullable<ReturnType<typeof parsePod>> {
  return parsePod(object) ?? assert.fail("no pod");
}

Deno.test("gatedPodOf() keeps a usual pod whole, and of a large one its name alone", () => {
  const usual = viewOf(gated("web"));
  assert.equal(gatedPodOf(usual).whole, usual);
  const view = parseGatedView(large("web")) ?? assert.fail("not gated");
  assert.ok(isLarge(view));
  assert.ok(JSON.stringify(gatedPodOf(view)).length < 200);
});

Deno.test("PodPlacement places large pods like any other, by what they are when it is their turn", async () => {
  const scene = openScene();
  for (const name of ["one", "two", "three", "four", "five"]) scene.cluster.put(Resource.pods, large(name));
  const controller = controllerOf(scene);
  await whileRunning(scene, controller, async () => {
    await scene.clock.advance(3_000);
    for (const name of ["one", "two", "three", "four", "five"]) {
      const pod = podOf(scene, name);
      assert.deepEqual(gatesOf(pod), []);
      assert.deepEqual(requiredOf(pod), [term([ARCH, AMD64, "arm64"])]);
    }
    assert.equal(scene.cluster.patches.length, 5);
    assert.equal(reasonsOf(scene).length, 15);
    assert.equal(controller.gatedPods(), 0);
  });
});

Deno.test("PodReader has 8 MiB of pods in memory at a time, and knows which are gone", async () => {
  const { cluster } = openScene();
  cluster.put(Resource.pods, large("web"));
  const pods = new PodReader();
  const pod = gatedPodOf(viewOf(large("web")));
  const { signal } = new AbortController();
  const held = Promise.withResolvers<string>();
  const first = pods.use(pod, { api: cluster.api, signal }, () => held.promise);
  const second = pods.use(pod, { api: cluster.api, signal }, () => Promise.reject(new Error("refused")));
  assert.deepEqual(await pods.use(pod, { api: cluster.api, signal }, () => Promise.resolve("")), { kind: "busy" });
  held.resolve("placed");
  assert.deepEqual(await first, { kind: "used", result: "placed" });
  await assert.rejects(second, /refused/);
  const gone = { kind: "gone" };
  assert.deepEqual(await pods.use({ ...pod, uid: "earlier" }, { api: cluster.api, signal }, () => held.promise), gone);
  cluster.drop(Resource.pods, "shop/web");
  assert.deepEqual(await pods.use(pod, { api: cluster.api, signal }, () => held.promise), gone);
});

Deno.test("reduceToImages() of a pod gives the judgement that the pod gives, and is small", () => {
  const settings = makeSettings({ operatorNamespace: "archway" });
  const pod = viewOf(large("web"));
  const windows = { ...pod, nodeSelector: { "kubernetes.io/os": "windows" }, osName: "linux" };
  for (const one of [pod, windows, { ...pod, osName: "windows" }]) {
    const images = [fact("multi"), fact("multi")];
    const wanted = images.map(({ image }) => ({ image, pullsAlways: false }));
    const part = reduceToImages(one, wanted);
    const judge = (of: typeof pod): unknown => judgeImages(of, settings, wanted, images);
    assert.deepEqual(judge(part), judge(one));
    assert.ok(JSON.stringify(part).length < 2_000);
  }
});
