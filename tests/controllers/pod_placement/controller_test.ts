import assert from "node:assert/strict";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { SCHEDULING_GATE } from "../../../lib/names.ts";
import { AMD64, ARCH, cluster, configs, mark, term } from "../../lib/placement/decide/make.ts";
import { answeringWhile, openScene, runFor, whileRunning, withMetadata } from "../make.ts";
import { controllerOf, gated, podOf, reasonsOf, webOf } from "./make.ts";

const REMOVED = "ArchAwareSchedGateRemovalSuccess";
const SET = "ArchAwarePredicateSet";
const ADDED = "ArchAwareSchedGateAdded";

function once(happens: () => void): () => void {
  let isDue = true;
  return () => {
    if (!isDue) return;
    isDue = false;
    happens();
  };
}

Deno.test("PodPlacement releases a gated pod by one patch and reports it in three slots", async () => {
  const scene = openScene(gated("web"));
  const controller = controllerOf(scene);
  await whileRunning(scene, controller, async () => {
    await scene.clock.advance(100);
    assert.equal(scene.cluster.patches.length, 1);
    assert.deepEqual(webOf(scene).required, [term([ARCH, AMD64, "arm64"])]);
    const recorded = scene.recorded.map(({ slot, reason }) => `${slot} ${reason}`);
    assert.deepEqual(recorded, [`1 ${ADDED}`, `3 ${SET}`, `2 ${REMOVED}`]);
    assert.equal(controller.gatedPods(), 0);
  });
});

Deno.test("PodPlacement that leads again places at once the pods whose inspections the end of leading stopped", async () => {
  const scene = openScene(gated("web"));
  let isFirstTerm = true;
  const silent = answeringWhile(scene, () => isFirstTerm);
  const controller = controllerOf(silent);
  await runFor(scene, controller, 100);
  isFirstTerm = false;
  await runFor(scene, controller, 100);
  assert.deepEqual(webOf(scene).required, [term([ARCH, AMD64, "arm64"])]);
  assert.equal(scene.recorded.filter(({ reason }) => reason === ADDED).length, 1);
});

Deno.test("PodPlacement ends cleanly when the pod is deleted at the moment of the write", async () => {
  const scene = openScene(gated("web"));
  scene.cluster.beforePatch = once(() => scene.cluster.drop(Resource.pods, "shop/web"));
  const controller = controllerOf(scene);
  await whileRunning(scene, controller, async () => {
    await scene.clock.advance(10_000);
    assert.deepEqual([controller.gatedPods(), reasonsOf(scene)], [0, [ADDED]]);
  });
});

Deno.test("PodPlacement decides again when a container is changed at the moment of the write", async () => {
  const scene = openScene(gated("web"));
  scene.cluster.beforePatch = once(() => scene.cluster.put(Resource.pods, gated("web", { image: "single-arm64" })));
  await runFor(scene, controllerOf(scene), 100);
  assert.deepEqual(webOf(scene).required, [term([ARCH, "arm64"])]);
  assert.equal(scene.cluster.patches.length, 1);
});

Deno.test("PodPlacement leaves a pod alone whose gate others lifted and that they bound", async () => {
  const scene = openScene(gated("web"));
  const bound = { ...gated("web"), spec: { containers: [{ name: "c", image: "multi" }], nodeName: "n1" } };
  scene.cluster.beforePatch = once(() => scene.cluster.put(Resource.pods, bound));
  await runFor(scene, controllerOf(scene), 10_000);
  assert.deepEqual([scene.cluster.patches, reasonsOf(scene)], [[], [ADDED]]);
  assert.deepEqual(podOf(scene, "web")["spec"], bound.spec);
});

Deno.test("PodPlacement keeps foreign gates and waits for no replica", async () => {
  const scene = openScene(gated("web", { gates: ["kueue.x-k8s.io/admission", SCHEDULING_GATE, "example.com/x"] }));
  await runFor(scene, controllerOf(scene), 100);
  assert.deepEqual(webOf(scene).gates, ["kueue.x-k8s.io/admission", "example.com/x"]);
  assert.match(scene.recorded.at(-1)?.message ?? "", /Still held by kueue.x-k8s.io\/admission, example.com\/x/);
});

Deno.test("PodPlacement releases the pod bare, with a Warning, when the server refuses what was decided", async () => {
  const scene = openScene(gated("web"));
  scene.cluster.beforePatch = once(() => {
    throw new ApiError("affinity is forbidden", { status: 422, hasCauses: true });
  });
  await runFor(scene, controllerOf(scene), 100);
  assert.deepEqual(webOf(scene).gates, []);
  assert.equal(webOf(scene).required, undefined);
  const warning = scene.recorded.find(({ type }) => type === "Warning");
  assert.equal(warning?.reason, "ArchAwareSchedGateRemovalFailed");
  assert.match(warning?.message ?? "", /affinity is forbidden/);
});

Deno.test("PodPlacement releases a pod whose guarded texts have the characters that Go escapes", async () => {
  const pod = gated("web");
  const preference = { key: "note", operator: "In", values: ["a&b"] };
  const preferred = [{ weight: 1, preference: { matchExpressions: [preference] } }];
  const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: preferred };
  const containers = [{ name: "c", image: "multi" }, { name: "d", image: "<registry>/app:v1" }];
  const scene = openScene({ ...pod, spec: { ...Object(pod["spec"]), containers, affinity: { nodeAffinity } } });
  await runFor(scene, controllerOf(scene, configs(cluster({ fallback: AMD64 }))), 61_000);
  assert.deepEqual(webOf(scene).gates, []);
  assert.deepEqual(webOf(scene).required, [term([ARCH, AMD64])]);
});

Deno.test("PodPlacement goes on until the server takes the patch", async () => {
  const scene = openScene(gated("web"));
  let refusals = 5;
  scene.cluster.beforePatch = () => {
    if (refusals-- > 0) throw new ApiError("away", { status: 0 });
  };
  await runFor(scene, controllerOf(scene), 20_000);
  assert.deepEqual(webOf(scene).gates, []);
  assert.deepEqual(reasonsOf(scene), [ADDED, SET, REMOVED]);
});

Deno.test("PodPlacement falls back within the longest gate age, also when another leader takes over", async () => {
  const scene = openScene(gated("web", { image: "broken" }));
  const config = configs(cluster({ fallback: AMD64 }));
  await runFor(scene, controllerOf(scene, config), 40_000);
  assert.deepEqual(webOf(scene).gates, [SCHEDULING_GATE]);
  assert.match(String(webOf(scene).labels[mark("image-inspect-error-count")]), /^[1-4]$/);
  await runFor(scene, controllerOf(scene, config), 20_000);
  assert.deepEqual(webOf(scene).gates, []);
  assert.equal(webOf(scene).labels[mark("fallback-arch")], AMD64);
  assert.match(String(webOf(scene).annotations["archway.dev/decision"]), /"d":"fallback"/);
  const last = scene.recorded.slice(-3).map(({ slot, reason }) => `${slot} ${reason}`);
  assert.deepEqual(last, ["2 ArchAwareInspectionError", "3 ArchAwareFallbackPredicateSet", `1 ${REMOVED}`]);
});

Deno.test("PodPlacement says why an image could not be inspected before its registry fell silent", async () => {
  const scene = openScene(gated("web", { image: "broken" }));
  let attempts = 0;
  const silent = answeringWhile(scene, () => attempts++ > 0);
  await runFor(scene, controllerOf(silent), 61_000);
  assert.deepEqual(webOf(scene).gates, []);
  assert.match(JSON.stringify(scene.recorded), /no answer within --max-gate-age \(1m\); before: .*broken/);
});

Deno.test("PodPlacement reports and marks a failure that goes on no more often than its marks change", async () => {
  const scene = openScene(gated("web", { image: "broken" }));
  await runFor(scene, controllerOf(scene), 55_000);
  assert.ok(scene.requests.length > 10, `${scene.requests.length} attempts`);
  const failures = reasonsOf(scene).filter((reason) => reason === "ArchAwareInspectionError");
  assert.deepEqual([failures.length, scene.cluster.patches.length], [4, 4]);
});

Deno.test("PodPlacement tries a pod again that waited out its time while nobody was there to place it", async () => {
  const scene = openScene(gated("web", { image: "broken" }));
  await runFor(scene, controllerOf(scene), 1_000);
  await scene.clock.advance(120_000);
  await whileRunning(scene, controllerOf(scene), async () => {
    await scene.clock.advance(1_000);
    assert.deepEqual(webOf(scene).gates, [SCHEDULING_GATE], "given up on at first sight");
    await scene.clock.advance(5_000);
    assert.deepEqual(webOf(scene).gates, []);
  });
});

Deno.test("PodPlacement finds by its sweep a gated pod whose label was removed", async () => {
  const scene = openScene(withMetadata(gated("web"), { labels: {} }));
  await runFor(scene, controllerOf(scene), 1_000);
  assert.deepEqual(webOf(scene).gates, []);
});

Deno.test("PodPlacement counts no pod that merely has the gate's label, and none that is being deleted", async () => {
  const leaving = { deletionTimestamp: "2026-11-21T12:00:00Z", finalizers: ["example.com/x"] };
  const scene = openScene(gated("labelled", { gates: [] }), withMetadata(gated("leaving"), leaving));
  const controller = controllerOf(scene);
  await whileRunning(scene, controller, async () => {
    await scene.clock.advance(1_000);
    assert.deepEqual([controller.gatedPods(), controller.longestGated()], [0, []]);
    assert.deepEqual([scene.cluster.patches, scene.recorded], [[], []]);
  });
});

Deno.test("PodPlacement finds by its sweep a labelled pod that the watch does not show", async () => {
  const scene = openScene();
  const controller = controllerOf(scene);
  await whileRunning(scene, controller, async () => {
    await scene.clock.advance(1_000);
    scene.cluster.putUnseen(Resource.pods, gated("web"));
    await scene.clock.advance(5 * 60_000);
    assert.deepEqual(webOf(scene).gates, []);
  });
});
