import assert from "node:assert/strict";
import {
  type MismatchChecks,
  type MismatchDeps,
  openMismatchChecks,
} from "../../../../lib/placement/cluster/mismatch_checks.ts";
import type { PodImageInspector } from "../../../../lib/placement/images/pod_image_inspector.ts";
import type { JsonObject } from "../../../../lib/json.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { makeSettings } from "../../../support/placement_settings.ts";
import type { PodView } from "../../../../lib/placement/decide/pod/pod_view.ts";
import { container, fact, nodeAffinity, platformsFact, podOf, rawPod } from "../decide/make.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { answering, openScene, type Scene } from "../../../controllers/make.ts";

function debugged(...images: readonly string[]): PodView {
  return podOf(rawPod({ nodeName: "n1", ephemeralContainers: images.map((image) => container(image)) }));
}

/** Those of a scene where pods are on arm64. */
function mismatchesOf({ events, images }: Scene, more: Partial<MismatchDeps> = {}): MismatchChecks {
  return openMismatchChecks({
    ...{ events, images, clock: new FakeClock(), log: silentLogger, settingsOf: () => makeSettings() },
    architectureOf: () => "arm64",
    onPinMismatch: () => {},
    onLateMismatch: () => {},
    signal: new AbortController().signal,
    ...more,
  });
}

function watchOf(scene: Scene, more: Partial<MismatchDeps> = {}): (pod: PodView) => void {
  const { checkLateImages: late } = mismatchesOf(scene, more);
  return (pod) => late(pod, { came: "ephemeral", containers: pod.ephemeralContainers });
}

Deno.test("late() reports nothing about containers that can run, and asks nothing of a pod without a node", async () => {
  const scene = openScene();
  const watch = watchOf(scene, { architectureOf: () => "amd64" });
  watch(debugged("single-amd64", "multi"));
  await scene.clock.advance(0);
  assert.equal(scene.requests.length, 1);
  watch({ ...debugged("single-arm64"), nodeName: "" });
  await scene.clock.advance(0);
  assert.deepEqual([scene.requests.length, scene.recorded], [1, []]);
});

Deno.test("Q-06 late() counts an exchanged image that does not run on the pod's node, and says so in one Warning", async () => {
  const scene = openScene();
  const counted: string[] = [];
  const { checkLateImages: late } = mismatchesOf(scene, { onLateMismatch: (came) => void counted.push(came) });
  const pod = podOf(rawPod({ nodeName: "n1", containers: [container("single-amd64", "Always"), container("multi")] }));
  late(pod, { came: "exchanged", containers: pod.containers });
  await scene.clock.advance(0);
  assert.deepEqual(counted, ["exchanged"]);
  assert.deepEqual(scene.recorded.map(({ type, object }) => [type, object.name]), [["Warning", "p"]]);
  assert.match(scene.recorded[0]?.message ?? "", /^Container "single-amd64" cannot run on node "n1" \(arm64\)[^C]*$/);
});

Deno.test("late() swallows what goes wrong, and looks at 16 pods of a namespace at a time", async () => {
  const scene = openScene();
  const answers: PromiseWithResolvers<never>[] = [];
  const check = watchOf(answering(scene, () => {
    const answer = Promise.withResolvers<never>();
    answers.push(answer);
    return answer.promise;
  }));
  for (let n = 0; n < 40; n++) check(debugged("single-amd64"));
  assert.equal(answers.length, 16);
  for (const { reject } of answers) reject(new Error("no answer"));
  await scene.clock.advance(0);
  check(debugged("single-amd64"));
  assert.equal(answers.length, 17);
  answers.at(-1)?.reject(new Error("no answer"));
  await scene.clock.advance(0);
  assert.deepEqual(scene.recorded, []);
});

Deno.test("late() begins nothing once the process ends", () => {
  const scene = openScene();
  watchOf(scene, { signal: AbortSignal.abort() })(debugged("single-amd64"));
  assert.deepEqual(scene.requests, []);
});

Deno.test("late() inspects each image once, and none of a pod that names more than 200", async () => {
  const scene = openScene();
  const asked: number[] = [];
  const check = watchOf(answering(scene, (request, signal) => {
    asked.push(request.images.length);
    return scene.images.inspect(request, signal);
  }));
  check(debugged("single-amd64", "multi", "single-amd64", ""));
  await scene.clock.advance(0);
  const [note] = scene.recorded;
  assert.equal(note?.message.match(/Ephemeral container "single-amd64"/g)?.length, 2, "both containers are named");
  check(debugged(...Array.from({ length: 201 }, (_, at) => `image-${at}`)));
  await scene.clock.advance(0);
  assert.deepEqual(asked, [2]);
});

Deno.test("late() has room for other namespaces while the registries of some never answer", async () => {
  const scene = openScene();
  const underWay = new Map<string, number>();
  const stop = new AbortController();
  const silent = answering(scene, async (request, signal) => {
    const { identity: { namespace }, images: wanted } = request;
    if (!namespace.startsWith("evil")) return await scene.images.inspect(request, signal);
    underWay.set(namespace, (underWay.get(namespace) ?? 0) + wanted.length);
    await scene.clock.sleep(Infinity, signal);
    return signal.throwIfAborted() ?? [];
  });
  const check = watchOf(silent, { signal: stop.signal });
  const many = Array.from({ length: 200 }, (_, at) => `image-${at}`);
  for (let at = 0; at < 100; at++) check({ ...debugged(...many), namespace: "evil" });
  for (let at = 0; at < 100; at++) check({ ...debugged("one"), namespace: `evil-${at % 2}` });
  assert.equal(underWay.get("evil"), 400);
  assert.ok((underWay.get("evil-0") ?? 0) < 32 && (underWay.get("evil-1") ?? 0) < 32);
  check({ ...debugged("single-amd64"), namespace: "good" });
  await scene.clock.advance(0);
  assert.deepEqual(scene.recorded.map(({ object }) => object.namespace), ["good"]);
  stop.abort();
  await scene.clock.advance(0);
});

Deno.test("Q-04 Q-06 late() warns of a native image that comes beside Wasm, which a RuntimeClass of the settings runs anywhere", async () => {
  const scene = openScene();
  const platforms = [{ os: "wasi", architecture: "wasm" }];
  const inspect: PodImageInspector["inspect"] = ({ images }) =>
    Promise.resolve(images.map(({ image }) => image === "wasm" ? platformsFact(image, platforms) : fact(image)));
  const { checkLateImages: late } = mismatchesOf(answering(scene, inspect), {
    settingsOf: () => makeSettings({ runtimeClasses: { mine: { kind: "add", architectures: ["amd64", "arm64"] } } }),
  });
  const exchange = async (...images: readonly string[]): Promise<number> => {
    const containers = images.map((image) => container(image));
    const pod = podOf(rawPod({ nodeName: "n1", runtimeClassName: "mine", containers }));
    late(pod, { came: "exchanged", containers: pod.containers.slice(-1) });
    await scene.clock.advance(0);
    return scene.recorded.length;
  };
  assert.deepEqual([await exchange("multi", "single-amd64"), await exchange("single-amd64", "wasm")], [0, 0]);
  assert.equal(await exchange("wasm", "single-amd64"), 1);
});

function required(operator: string, ...values: readonly string[]): JsonObject {
  return { affinity: nodeAffinity([{ matchExpressions: [{ key: "kubernetes.io/arch", operator, values }] }]) };
}

const ARM64 = { nodeSelector: { "kubernetes.io/arch": "arm64" } };
/** Whoever creates a pod says how large it is, and what is awaited for it stays in memory. */
const MANY_VALUES = ["arm64", ...Array.from({ length: 2_000 }, (_, n) => `arch-${n}`)];

const LACKING = /of \{arm64\}.*single-amd64 has \{amd64\}/;

const RISCV64 = { nodeSelector: { "kubernetes.io/arch": "riscv64" } };
const BY_LABEL_OF_OLD = { nodeSelector: { "beta.kubernetes.io/arch": "arm64" } };

const PIN_CASES: readonly (readonly [what: string, images: readonly string[], spec: JsonObject, says?: RegExp])[] = [
  ["an image that has the pin", ["multi"], ARM64],
  ["an image that lacks it", ["single-amd64"], ARM64, LACKING],
  ["one image of two that lacks it", ["multi", "single-amd64"], ARM64, /and single-amd64 has/],
  [
    "images that share nothing, one of which lacks it",
    ["single-arm64", "single-amd64"],
    ARM64,
    /and single-amd64 has \{amd64\}/,
  ],
  ["terms that no pod needs", ["single-amd64"], required("In", ...MANY_VALUES)],
  ["an affinity", ["single-amd64"], required("In", "s390x", "arm64"), /of \{arm64, s390x\}/],
  ["an image that lacks what the label of old pins", ["single-amd64"], BY_LABEL_OF_OLD, LACKING],
  [
    "an image that lacks an architecture of which little is known",
    ["single-amd64"],
    RISCV64,
    /of \{riscv64\}.*single-amd64 has \{amd64\}/,
  ],
  ["an image that has it", ["exotic"], RISCV64],
  ["a pod that names no architecture", ["single-amd64"], { nodeSelector: { disk: "fast" } }],
  ["a pod whose RuntimeClass runs it elsewhere", ["single-amd64"], { ...ARM64, runtimeClassName: "elsewhere" }],
  ["an affinity that leaves its architecture", ["single-amd64"], required("NotIn", "arm64")],
  ["an image that cannot be inspected", ["no-such-image"], ARM64],
];

for (const [what, images, spec, says] of PIN_CASES) {
  Deno.test(`Q-01 pinned() ${says === undefined ? "says nothing of" : "warns of"} ${what}`, async () => {
    const scene = openScene();
    const settingsOf = () => makeSettings({ runtimeClasses: { elsewhere: { kind: "skip" } } });
    const mismatches = mismatchesOf(scene, { architectureOf: () => undefined, settingsOf });
    mismatches.checkPinned(podOf(rawPod({ ...spec, containers: images.map((image) => container(image)) })));
    await scene.clock.advance(0);
    const reasons = scene.recorded.map(({ reason }) => reason);
    assert.deepEqual(reasons, says === undefined ? [] : ["ArchAwarePinContradicted"]);
    if (says !== undefined) assert.match(scene.recorded[0]?.message ?? "", says);
  });
}

Deno.test("Q-01 pinned() looks once at the pods of a DaemonSet, each of which is for a node of its own", async () => {
  const scene = openScene();
  const mismatches = mismatchesOf(scene, { architectureOf: () => undefined });
  const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "agent", uid: "u-1", controller: true };
  for (const node of ["n1", "n2"]) {
    const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }];
    const affinity = nodeAffinity([{ matchFields }]);
    const raw = rawPod({ ...ARM64, affinity, containers: [container("single-amd64")] });
    mismatches.checkPinned(
      podOf({ ...raw, metadata: { namespace: "shop", name: `agent-${node}`, ownerReferences: [owner] } }),
    );
  }
  await scene.clock.advance(0);
  assert.deepEqual(scene.recorded.map(({ object }) => object.kind), ["DaemonSet"]);
});

Deno.test("Q-01 pinned() looks once at what one owner makes, and reports it there", async () => {
  const scene = openScene();
  const mismatches = mismatchesOf(scene, { architectureOf: () => undefined });
  const raw = rawPod({ ...ARM64, containers: [container("single-amd64")] });
  // Kueue pins the pods of a Job to the flavor that it starts it on.
  for (const [apiVersion, kind] of [["apps/v1", "ReplicaSet"], ["batch/v1", "Job"]]) {
    const owner = { apiVersion, kind, name: "web-1", uid: "u-1", controller: true };
    const metadata = { generateName: "web-1-", namespace: "shop", ownerReferences: [owner] };
    for (let n = 0; n < 3; n++) mismatches.checkPinned(podOf({ ...raw, metadata }));
  }
  await scene.clock.advance(0);
  assert.deepEqual(scene.recorded.map(({ object, slot }) => [object.kind, object.name, object.uid, slot]), [
    ["ReplicaSet", "web-1", "u-1", 1],
    ["Job", "web-1", "u-1", 1],
  ]);
});
