import assert from "node:assert/strict";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { FAILED_TTL_MS } from "../../../lib/exec_format/decide/failed_image.ts";
import { openScene, stalling, withMetadata } from "../make.ts";
import { type MemoryCall, refusing } from "../../support/memory_kube_api.ts";
import { makeSettings } from "../../support/placement_settings.ts";
import { ended, idOf, makeArchNode, makeFailedPod } from "../../lib/exec_format/decide/make.ts";
import { platformsFact } from "../../lib/placement/decide/make.ts";
import { eventsLeft, furnish, makeEvent, type MonitorScene, NAMESPACE, openMonitorScene, warn } from "./make.ts";

const LABEL = "multiarch.openshift.io/exec-format-error";
const ERROR = "multiarch.openshift.io/enoexec-event-error";
const WEB = makeFailedPod();

function labelOf({ cluster }: MonitorScene): string | undefined {
  return cluster.find("pods", "shop/web-1")?.metadata.labels?.[LABEL];
}

/** The kubelet says that the pod has failed. */
async function fail(scene: MonitorScene, how?: Parameters<typeof warn>[2]): Promise<void> {
  warn(scene, WEB, how);
  await scene.clock.advance(0);
}

Deno.test("145 146 a report becomes an event and a label on the pod, and is deleted", async () => {
  const scene = openMonitorScene();
  furnish(scene);
  scene.cluster.put(Resource.enoexecEvents, makeEvent());
  await scene.run(() => {
    assert.deepEqual(scene.recorded.map(({ reason, type, object }) => [reason, type, object.kind, object.name]), [
      ["ExecFormatError", "Warning", "Pod", "web-1"],
    ]);
    assert.match(scene.recorded[0]?.message ?? "", /^Container "c" .*\(ppc64le\)/);
    assert.deepEqual([labelOf(scene), eventsLeft(scene)], ["true", []]);
    assert.deepEqual(scene.counted.toSorted(), ["handled", "kernel"]);
  });
});

const DISMISSED: readonly (readonly [title: string, event: KubeObject, pod?: KubeObject])[] = [
  ["147 an event whose pod is away", makeEvent({ podName: "gone" })],
  ["148 an event whose node is away", makeEvent({ nodeName: "gone" })],
  ["150 an event whose pod is on another node", makeEvent(), makeFailedPod({ spec: { nodeName: "other" } })],
];
for (const [title, event, pod] of DISMISSED) {
  Deno.test(`${title} is deleted, and nothing is reported about the pod`, async () => {
    const scene = openMonitorScene();
    furnish(scene, undefined, pod);
    scene.cluster.put(Resource.enoexecEvents, event);
    await scene.run(() => {
      assert.deepEqual([eventsLeft(scene), scene.recorded, labelOf(scene)], [[], [], undefined]);
      assert.deepEqual(scene.counted, ["handled"]);
    });
  });
}

Deno.test("149 154 an event of an unknown container is reported without its name, once the pod's status had its time", async () => {
  const scene = openMonitorScene();
  furnish(scene, undefined, makeFailedPod({ status: { containerID: "wrong-container-id" } }));
  scene.cluster.put(Resource.enoexecEvents, makeEvent());
  await scene.run(async () => {
    assert.equal(scene.recorded.length, 0);
    await scene.clock.advance(11_000);
    assert.match(scene.recorded[0]?.message ?? "", /^A container .*\(ppc64le\)/);
    assert.deepEqual([labelOf(scene), eventsLeft(scene)], ["true", []]);
  });
});

Deno.test("153 155 an event that something holds is marked before it is deleted", async () => {
  const marks: unknown[] = [];
  const scene = openMonitorScene({
    before: ({ verb, plural, body }) => {
      if (verb === "patch" && plural === "enoexecevents") marks.push(body);
    },
  });
  scene.cluster.put(Resource.pods, WEB);
  const held = makeEvent({ nodeName: "gone", metadata: { finalizers: ["test-finalizer"] } });
  scene.cluster.put(Resource.enoexecEvents, held);
  await scene.run(() => scene.clock.advance(0));
  const labels = { [ERROR]: "node-not-found" };
  assert.deepEqual(marks, [{ kind: "merge", document: { metadata: { labels } } }]);
});

Deno.test("229 an event is handled when its status comes, and marked when none does", async () => {
  const scene = openMonitorScene();
  furnish(scene);
  const { status, ...bare } = makeEvent();
  scene.cluster.put(Resource.enoexecEvents, bare);
  scene.cluster.put(Resource.enoexecEvents, withMetadata(bare, { name: "never" }));
  await scene.run(async () => {
    assert.deepEqual(scene.recorded, []);
    scene.cluster.put(Resource.enoexecEvents, { ...bare, status });
    await scene.clock.advance(12_000);
    assert.equal(scene.recorded.length, 1);
    assert.deepEqual(eventsLeft(scene), ["never"]);
    await scene.clock.advance(3_600_000);
    assert.deepEqual(eventsLeft(scene), [], "none stays for ever");
  });
});

type Request = Pick<MemoryCall, "verb" | "plural">;
const READING: Request = { verb: "get", plural: "nodes" };
const LABELLING: Request = { verb: "patch", plural: "pods" };

/** A report, and an API server that refuses such a request while `fails` says so; and how the report is marked. */
function openTroubled(
  { verb, plural }: Request,
  fails: () => boolean,
): MonitorScene & { readonly marks: readonly unknown[] } {
  const marks: unknown[] = [];
  const refuse = refusing(503, (call) => call.verb === verb && call.plural === plural && fails());
  const before = (call: MemoryCall): void => {
    if (call.verb === "patch" && call.plural === "enoexecevents") marks.push(call.body);
    refuse(call);
  };
  const scene = openMonitorScene({ before });
  furnish(scene);
  scene.cluster.put(Resource.enoexecEvents, makeEvent());
  return { ...scene, marks };
}

Deno.test("229 what cannot be read or labelled is counted, marked and tried again", async () => {
  for (const request of [READING, LABELLING]) {
    let failures = 2;
    const scene = openTroubled(request, () => failures-- > 0);
    await scene.run(() => scene.clock.advance(1_000));
    assert.deepEqual(scene.counted, ["invalid", "invalid", "kernel", "handled"], request.plural);
    const mark = { kind: "merge", document: { metadata: { labels: { [ERROR]: "reconciliation-error" } } } };
    assert.deepEqual(scene.marks, [mark, mark], request.plural);
    assert.deepEqual([labelOf(scene), eventsLeft(scene)], ["true", []]);
  }
});

Deno.test("an event that could not be handled for two minutes is handled within five seconds after that", async () => {
  let isDown = true;
  const scene = openTroubled(READING, () => isDown);
  await scene.run(async () => {
    await scene.clock.advance(120_000);
    isDown = false;
    await scene.clock.advance(5_000);
    assert.deepEqual(scene.counted.slice(-2), ["kernel", "handled"]);
  });
});

Deno.test("229 a pod that goes while it is labelled leaves nothing behind", async () => {
  const scene = openMonitorScene();
  furnish(scene);
  scene.cluster.beforePatch = () => scene.cluster.drop(Resource.pods, "shop/web-1");
  scene.cluster.put(Resource.enoexecEvents, makeEvent());
  await scene.run(() => assert.deepEqual([scene.recorded, eventsLeft(scene), scene.counted], [[], [], ["handled"]]));
});

Deno.test("what is not switched on sends no request to the API server", async () => {
  const scene = openMonitorScene({ settings: { namespace: NAMESPACE, watchesPods: false, repairs: false } });
  scene.setMonitored(false);
  scene.cluster.put(Resource.enoexecEvents, makeEvent());
  furnish(scene);
  await scene.run(async () => {
    assert.deepEqual(scene.cluster.lists, []);
    scene.setMonitored(true);
    await scene.clock.advance(0);
    assert.equal(scene.recorded.length, 1);
    scene.setMonitored(false);
    await scene.clock.advance(0);
    scene.cluster.put(Resource.enoexecEvents, makeEvent({ containerId: idOf("b") }));
    await scene.clock.advance(20_000);
    assert.deepEqual(eventsLeft(scene), ["b".repeat(64)]);
  });
});

Deno.test("without a daemon a container that ends at once is reported where its image lacks the node's architecture", async () => {
  const scene = openMonitorScene();
  scene.setMonitored(false);
  furnish(scene, "arm64", makeFailedPod({ status: { state: ended(255) } }));
  await scene.run(async () => {
    await fail(scene);
    assert.match(scene.recorded[0]?.message ?? "", /^Container "c" .*\(arm64\).*Image single-amd64 has amd64/);
    assert.deepEqual([labelOf(scene), scene.counted], ["true", ["status"]]);
    await fail(scene, { count: 2 });
    assert.equal(scene.recorded.length, 1, "one report a container");
  });
});

Deno.test("without a daemon a refused pull is reported by what the runtime said", async () => {
  const scene = openMonitorScene();
  const message = "get image config descriptor: no match for platform in manifest sha256:5d: not found";
  const state = { waiting: { reason: "ErrImagePull", message } };
  furnish(scene, "arm64", makeFailedPod({ status: { state }, phase: "Pending" }));
  await scene.run(async () => {
    await fail(scene, { reason: "Failed" });
    assert.match(scene.recorded[0]?.message ?? "", /^Container "c" cannot run: its image has nothing for .*\(arm64\)/);
  });
});

Deno.test("without a daemon a pod that is not started again is found as failed", async () => {
  const scene = openMonitorScene();
  furnish(scene, "arm64", makeFailedPod({ status: { state: ended(1) }, phase: "Failed" }));
  await scene.run(() => assert.equal(scene.recorded.length, 1));
});

const LABELLED = [
  ["what an earlier leader has reported is shown again, and not counted again", -60_000, []],
  ["a container of a labelled pod that ends while this replica leads is counted", 60_000, ["status"]],
] as const;

for (const [title, afterMs, counted] of LABELLED) {
  Deno.test(title, async () => {
    const scene = openMonitorScene();
    const at = new Date(scene.clock.nowMs() + afterMs).toISOString();
    const terminated = { exitCode: 255, startedAt: at, finishedAt: at, containerID: idOf("a") };
    const labels = { "multiarch.openshift.io/exec-format-error": "true" };
    const pod = makeFailedPod({ metadata: { labels }, status: { state: { terminated } }, phase: "Failed" });
    furnish(scene, "arm64", pod);
    await scene.run(() => assert.deepEqual([scene.recorded.length, scene.counted], [1, counted]));
  });
}

Deno.test("a program that merely fails is not reported, nor looked at again and again", async () => {
  const scene = openMonitorScene();
  furnish(scene, "amd64");
  await scene.run(async () => {
    for (let count = 1; count <= 3; count++) await fail(scene, { count });
    assert.deepEqual([scene.recorded, scene.counted, labelOf(scene), scene.requests.length], [[], [], undefined, 1]);
  });
});

Deno.test("pods of one namespace with many containers and a slow registry do not keep those of others waiting", async () => {
  const { images } = stalling(openScene(), "slow");
  const scene = openMonitorScene({ images });
  const { cluster, clock } = scene;
  const failIn = (namespace: string, failed: KubeObject): void => {
    const pod = withMetadata(failed, { namespace });
    cluster.put(Resource.pods, pod);
    warn(scene, pod);
  };
  cluster.put(Resource.nodes, makeArchNode("arm64"));
  const names = Array.from({ length: 50 }, (_, at) => `c${at}`);
  const containers = names.map((name) => ({ name, image: `slow-${name}` }));
  const containerStatuses = names.map((name) => ({ name, containerID: idOf("a"), state: ended(1) }));
  const slow = (name: string): KubeObject => ({
    ...makeFailedPod({ metadata: { name, uid: `uid-${name}` } }),
    spec: { nodeName: "node-1", containers },
    status: { phase: "Running", containerStatuses },
  });
  await scene.run(async () => {
    for (let at = 0; at < 20; at++) failIn("hostile", slow(`slow-${at}`));
    await clock.advance(0);
    failIn("shop", makeFailedPod({ status: { state: ended(1) } }));
    await clock.advance(9_000);
    assert.deepEqual(scene.recorded.map(({ object }) => object.namespace), ["shop"]);
  });
});

Deno.test("where logs may be read, their last line decides about an image that claims the architecture", async () => {
  const scene = openMonitorScene();
  const asked: string[] = [];
  scene.deps.api.raw = (path: string) => (asked.push(path), Promise.resolve("exec /app: exec format error\n"));
  furnish(scene, "amd64");
  await scene.run(async () => {
    await fail(scene);
    assert.deepEqual(asked, ["/api/v1/namespaces/shop/pods/web-1/log?container=c&tailLines=1&limitBytes=256"]);
    assert.match(scene.recorded[0]?.message ?? "", /claims amd64, but the program in it is for another architecture/);
  });
});

Deno.test("both sources together make one report of a container", async () => {
  const scene = openMonitorScene();
  furnish(scene, "arm64");
  await scene.run(async () => {
    await fail(scene);
    scene.cluster.put(Resource.enoexecEvents, makeEvent());
    await scene.clock.advance(3_000);
    assert.deepEqual([scene.recorded.length, scene.counted, eventsLeft(scene)], [1, ["status", "handled"], []]);
  });
});

Deno.test("an image that claims what its program lacks is recorded, and dropped after a week", async () => {
  const digest = "sha256:" + "12".repeat(32);
  const { image, inspection } = platformsFact("single-amd64", [{ os: "linux", architecture: "arm64" }]);
  const images = {
    ...openScene().images,
    inspect: () => Promise.resolve([{ image, inspection: { ...inspection, digest } }]),
  };
  const scene = openMonitorScene({ images });
  furnish(scene, "arm64", makeFailedPod({ status: { state: ended(1), imageID: `r/app@${digest}` } }));
  scene.cluster.put(Resource.enoexecEvents, makeEvent());
  await scene.run(async () => {
    await scene.clock.advance(0);
    const name = `failed-arm64-${"12".repeat(20)}-shop`;
    assert.deepEqual(eventsLeft(scene), [name]);
    await scene.clock.advance(FAILED_TTL_MS + 1_000);
    assert.deepEqual(eventsLeft(scene), []);
  });
});

Deno.test("a pod of an audited namespace is reported and left as it is", async () => {
  const audited = makeSettings({ audit: true });
  const scene = openMonitorScene({ settingsOf: () => audited });
  furnish(scene, "arm64");
  await scene.run(async () => {
    await fail(scene);
    assert.deepEqual([scene.recorded.length, labelOf(scene)], [1, undefined]);
  });
});
