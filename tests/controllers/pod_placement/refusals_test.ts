// The pod controller when the API server does not take its writes: every pod is released at its deadline, by whatever the
// server takes, and an event says what it did not take.
import assert from "node:assert/strict";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import type { JsonPatch } from "../../../lib/k8s/patch.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { SCHEDULING_GATE } from "../../../lib/names.ts";
import { AMD64, ARCH, cluster, configs, NO_CONFIGS, term } from "../../lib/placement/decide/make.ts";
import type { PlacementConfigs } from "../../../lib/placement/decide/config/config.ts";
import { openScene, type Scene, whileRunning } from "../make.ts";
import { controllerOf, gated, webOf } from "./make.ts";

const PLACED = [term([ARCH, AMD64, "arm64"])];

function touches(operations: JsonPatch, path: string): boolean {
  return operations.some((operation) => operation.op !== "test" && operation.path.startsWith(path));
}

interface Refusal {
  readonly status?: number;
  readonly hasCauses?: boolean;
  readonly path: string;
}

const REFUSALS: readonly (Refusal & { readonly name: string })[] = [
  { name: "403", status: 403, path: "/spec/affinity" },
  { name: "409 although nothing changed", status: 409, path: "/spec/affinity" },
  { name: "422 without causes although nothing changed", status: 422, path: "/spec/affinity" },
  { name: "422 with causes", status: 422, hasCauses: true, path: "/spec/affinity" },
  { name: "400", status: 400, path: "/spec/affinity" },
  { name: "413", status: 413, path: "/spec/affinity" },
  { name: "500", status: 500, path: "/spec/affinity" },
  { name: "no answer", status: 0, path: "/spec/affinity" },
];

async function whileRefusing(
  { path, status = 403, hasCauses = false, image = "multi", config = NO_CONFIGS }: Refusal & {
    readonly image?: string;
    readonly config?: PlacementConfigs;
  },
  play: (scene: Scene) => Promise<void>,
): Promise<void> {
  const scene = openScene(gated("web", { image }));
  scene.cluster.beforePatch = (operations) => {
    if (touches(operations, path)) throw new ApiError("policy says no", { status, hasCauses });
  };
  await whileRunning(scene, controllerOf(scene, config), () => play(scene));
}

for (const refusal of REFUSALS) {
  Deno.test(`a pod whose affinity is answered with ${refusal.name} is released without it at its deadline`, () =>
    whileRefusing(refusal, async (scene) => {
      await scene.clock.advance(61_000);
      const { gates, required, marks } = webOf(scene);
      assert.deepEqual([gates, required, marks["scheduling-gate"]], [[], undefined, "removed"]);
      const warnings = scene.recorded.filter(({ type }) => type === "Warning");
      assert.deepEqual(warnings.map(({ reason }) => reason), ["ArchAwareSchedGateRemovalFailed"]);
      assert.match(warnings[0]?.message ?? "", /policy says no/);
    }));
}

Deno.test("a denial before the deadline is waited out, and the pod is placed once the policy allows it", () =>
  whileRefusing({ path: "/spec/affinity" }, async (scene) => {
    await scene.clock.advance(55_000);
    assert.deepEqual(webOf(scene).gates, [SCHEDULING_GATE]);
    scene.cluster.beforePatch = () => {};
    await scene.clock.advance(5_000);
    assert.deepEqual(webOf(scene).required, PLACED);
  }));

Deno.test("a pod whose affinity, annotations and labels are all denied loses its gate at its deadline", () =>
  whileRefusing({ path: "/metadata" }, async (scene) => {
    await scene.clock.advance(60_500);
    assert.deepEqual(webOf(scene).gates, []);
  }));

Deno.test("a pod that nothing releases is reported once, and released when the server allows it", () =>
  whileRefusing({ path: "" }, async (scene) => {
    await scene.clock.advance(180_000);
    const warnings = scene.recorded.filter(({ type }) => type === "Warning");
    assert.deepEqual(warnings.map(({ reason }) => reason), ["ArchAwareSchedGateRemovalFailed"]);
    scene.cluster.beforePatch = () => {};
    await scene.clock.advance(6_000);
    assert.deepEqual(webOf(scene).required, PLACED);
  }));

Deno.test("an API server that is away at the deadline costs no pod its placement", async () => {
  const scene = openScene();
  const { get } = scene.cluster.api;
  let isAway = true;
  const away = (): ApiError => new ApiError("away", { status: 0 });
  scene.cluster.api.get = (...call) => isAway ? Promise.reject(away()) : get(...call);
  scene.cluster.put(Resource.pods, gated("web"));
  scene.cluster.beforePatch = () => {
    if (isAway) throw away();
  };
  await whileRunning(scene, controllerOf(scene), async () => {
    await scene.clock.advance(120_000);
    isAway = false;
    await scene.clock.advance(6_000);
    assert.deepEqual(webOf(scene).required, PLACED);
  });
});

Deno.test("marks of a failed inspection that are refused do not hold up the next attempt", () => {
  const path = "/metadata/labels/multiarch.openshift.io~1image-inspect-error";
  return whileRefusing({ path, image: "broken", config: configs(cluster({ fallback: AMD64 })) }, async (scene) => {
    await scene.clock.advance(59_000);
    assert.ok(scene.requests.length > 10, `${scene.requests.length} attempts`);
    await scene.clock.advance(2_000);
    assert.deepEqual(webOf(scene).gates, []);
  });
});
