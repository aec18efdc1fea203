// Component `kueue`: templates are narrowed while there is no quota, and the check is answered when there is.
import assert from "node:assert/strict";
import { openKueue } from "../../../controllers/kueue/controller.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { makeSettings } from "../../support/placement_settings.ts";
import { ARCH, at, type Json, NO_CONFIGS, requiredOf, term } from "../../lib/placement/decide/make.ts";
import { openScene, runFor, type Scene, stalling, whileRunning, withMetadata } from "../make.ts";

const WORKLOADS = Resource.kueueWorkloads.plural;

function kueueOf({ cluster, clock, images }: Scene): ReturnType<typeof openKueue> {
  const settings = makeSettings();
  return openKueue({
    ...{ api: cluster.api, images, clock, log: silentLogger, settingsOf: () => settings, configsOf: () => NO_CONFIGS },
    liveArchitectures: () => undefined,
  });
}

const TEMPLATE = { metadata: {}, spec: { containers: [{ name: "c", image: "single-amd64" }] } };

function makeJob(suspend: boolean): KubeObject {
  return { metadata: { name: "j", namespace: "shop", resourceVersion: "1" }, spec: { suspend, template: TEMPLATE } };
}

function makeQueued(flavor: string | undefined, spec: Json = {}): KubeObject {
  const template = { ...TEMPLATE, spec: { ...TEMPLATE.spec, ...spec } };
  const admission = { podSetAssignments: [{ name: "main", flavors: { cpu: flavor } }] };
  return {
    metadata: {
      name: "w",
      namespace: "shop",
      creationTimestamp: "2026-11-21T12:00:00Z",
      ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "j", uid: "u" }],
    },
    spec: { podSets: [{ name: "main", count: 1, template }] },
    status: {
      conditions: flavor === undefined ? [] : [{ type: "QuotaReserved", status: "True" }],
      admissionChecks: [{ name: "archway", state: "Pending", message: "", lastTransitionTime: "2026-11-21T12:00:00Z" }],
      ...flavor === undefined ? {} : { admission },
    },
  };
}

function openQueueScene(workload: KubeObject, options: { readonly suspended?: boolean } = {}): Scene {
  const scene = openScene();
  for (const [name, architecture] of [["x86", "amd64"], ["arm", "arm64"]] as const) {
    const spec = { nodeLabels: { [ARCH]: architecture } };
    scene.cluster.put(Resource.kueueFlavors, { metadata: { name }, spec });
  }
  scene.cluster.put(Resource.jobs, makeJob(options.suspended ?? true));
  scene.cluster.put(Resource.kueueWorkloads, workload);
  return scene;
}

function requiredOfJob({ cluster }: Scene): unknown {
  return requiredOf(at(cluster.find("jobs", "shop/j"), "spec", "template"));
}

function requiredOfWorkload({ cluster }: Scene): unknown {
  return requiredOf(at(cluster.find(WORKLOADS, "shop/w"), "spec", "podSets", 0, "template"));
}

function stateOf({ cluster }: Scene, name = "w"): unknown {
  return at(cluster.find(WORKLOADS, `shop/${name}`), "status", "admissionChecks", 0, "state");
}

const AMD64_ONLY = [term([ARCH, "amd64"])];

Deno.test("Q-02 openKueue() narrows the templates of a Workload without quota and of its suspended Job", async () => {
  const scene = openQueueScene(makeQueued(undefined));
  await runFor(scene, kueueOf(scene), 0);
  assert.deepEqual([requiredOfWorkload(scene), requiredOfJob(scene)], [AMD64_ONLY, AMD64_ONLY]);
  assert.equal(stateOf(scene), "Pending");
});

Deno.test("openKueue() leaves a Job that runs as it is", async () => {
  const scene = openQueueScene(makeQueued(undefined), { suspended: false });
  await runFor(scene, kueueOf(scene), 0);
  assert.deepEqual([requiredOfWorkload(scene), requiredOfJob(scene)], [AMD64_ONLY, undefined]);
});

for (const [flavor, state] of [["x86", "Ready"], ["arm", "Retry"]] as const) {
  Deno.test(`Q-02 openKueue() answers ${state} to an amd64 image on flavor ${flavor}, and leaves reserved templates alone`, async () => {
    const scene = openQueueScene(makeQueued(flavor));
    await runFor(scene, kueueOf(scene), 0);
    assert.deepEqual([stateOf(scene), requiredOfWorkload(scene)], [state, undefined]);
    assert.deepEqual(requiredOfJob(scene), AMD64_ONLY);
  });
}

Deno.test("Q-02 openKueue() holds the check while an image cannot be read, for as long as a pod would be gated", async () => {
  const scene = openQueueScene(makeQueued("x86", { containers: [{ name: "c", image: "broken" }] }));
  await whileRunning(scene, kueueOf(scene), async () => {
    await scene.clock.advance(50_000);
    assert.equal(stateOf(scene), "Pending");
    assert.ok(scene.requests.length > 3, "it is read again meanwhile");
    await scene.clock.advance(10_000);
    assert.equal(stateOf(scene), "Ready");
  });
});

Deno.test("Q-02 openKueue() holds none longer than a pod would be gated, of hundreds in a namespace whose registry stalls", async () => {
  const scene = openQueueScene(makeQueued("x86"));
  const stalled = makeQueued("x86", { containers: [{ name: "c", image: "stalled" }] });
  const names = Array.from({ length: 200 }, (_, n) => `w-${n}`);
  for (const name of names) scene.cluster.put(Resource.kueueWorkloads, withMetadata(stalled, { name }));
  const countReady = (): number => names.filter((name) => stateOf(scene, name) === "Ready").length;
  await whileRunning(scene, kueueOf(stalling(scene, "stalled")), async () => {
    await scene.clock.advance(58_000);
    assert.equal(countReady(), 0);
    await scene.clock.advance(4_000);
    assert.equal(countReady(), names.length);
  });
});

Deno.test("openKueue() answers one namespace while registries stall for hundreds of Workloads of others", async () => {
  const scene = openQueueScene(makeQueued("x86"));
  const stalled: KubeObject = makeQueued("x86", { containers: [{ name: "c", image: "stalled" }] });
  for (let n = 0; n < 300; n++) {
    const evil = withMetadata(stalled, { name: `w-${n}`, namespace: `evil-${n % 3}` });
    scene.cluster.put(Resource.kueueWorkloads, evil);
  }
  const late = withMetadata(makeQueued("x86"), { name: "late" });
  await whileRunning(scene, kueueOf(stalling(scene, "stalled")), async () => {
    await scene.clock.advance(2_000);
    scene.cluster.put(Resource.kueueWorkloads, late);
    await scene.clock.advance(1_000);
    assert.equal(stateOf(scene, "late"), "Ready");
  });
});

Deno.test("openKueue() reads a Workload that waits for permits less often the longer it has waited", async () => {
  const scene = openQueueScene(makeQueued("x86"));
  using _all = scene.images.permits.tryAcquire("other", { weight: 4_000 });
  const { get } = scene.cluster.api;
  let reads = 0;
  scene.cluster.api.get = (...call) => {
    reads += Number(call[0] === Resource.kueueWorkloads);
    return get(...call);
  };
  await whileRunning(scene, kueueOf(scene), async () => {
    await scene.clock.advance(30_000);
    assert.ok(reads > 4 && reads < 20, `${reads} reads`);
    await scene.clock.advance(31_000);
    assert.equal(stateOf(scene), "Ready");
    assert.ok(reads < 25, `${reads} reads`);
  });
});

Deno.test("openKueue() says that the check is active, also when it is made later", async () => {
  const scene = openQueueScene(makeQueued(undefined));
  await whileRunning(scene, kueueOf(scene), async () => {
    scene.cluster.put(Resource.kueueChecks, { metadata: { name: "archway", generation: 1 }, status: {} });
    await scene.clock.advance(60_000);
    const [active] = at(scene.cluster.find(Resource.kueueChecks.plural, "archway"), "status", "conditions") as Json[];
    assert.deepEqual([active?.type, active?.status], ["Active", "True"]);
  });
});
