import assert from "node:assert/strict";
import { EventBacklog, MAX_EVENTS_OF_NODE } from "../../../controllers/exec_format/controller.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { ended, makeArchNode, makeFailedPod } from "../../lib/exec_format/decide/make.ts";
import { openScene, stalling } from "../make.ts";
import { eventsLeft, furnish, makeEvent, openMonitorScene, warn } from "./make.ts";

const FLOODING = "node-2";

function idNumber(number: number): string {
  return `containerd://${String(number).padStart(64, "0")}`;
}

Deno.test("reports of one node, however many and slow to handle, do not keep those of others waiting", async () => {
  const { images } = stalling(openScene(), "slow");
  const scene = openMonitorScene({ images });
  const { cluster, clock } = scene;
  for (const node of ["node-1", FLOODING]) cluster.put(Resource.nodes, makeArchNode("arm64", node));
  cluster.put(Resource.pods, makeFailedPod({ status: { state: ended(1) } }));
  for (let at = 0; at < 100; at++) {
    const [podName, podUid, containerId] = [`slow-${at}`, `uid-${at}`, idNumber(at)];
    const status = { containerID: containerId, state: ended(1, { id: containerId }) };
    const containers = [{ name: "c", image: "slow" }];
    const metadata = { name: podName, uid: podUid };
    cluster.put(Resource.pods, makeFailedPod({ status, metadata, spec: { nodeName: FLOODING, containers } }));
    cluster.put(Resource.enoexecEvents, makeEvent({ nodeName: FLOODING, podName, podUid, containerId }));
  }
  await scene.run(async () => {
    await clock.advance(0);
    cluster.put(Resource.enoexecEvents, makeEvent());
    await clock.advance(7_000);
    assert.ok(scene.recorded.some(({ object }) => object.name === "web-1"));
    assert.ok(scene.recorded.length < 50);
  });
});

Deno.test("of a node that floods Archway with events, those beyond the bound are deleted unread", async () => {
  const asked: string[] = [];
  const scene = openMonitorScene({
    before: ({ verb, plural, name = "" }) => void asked.push(`${verb} ${plural} ${name}`),
  });
  const { cluster, clock } = scene;
  for (let at = 0; at < MAX_EVENTS_OF_NODE + 50; at++) {
    const event = makeEvent({ nodeName: FLOODING, podName: `gone-${at}`, containerId: idNumber(at) });
    cluster.put(Resource.enoexecEvents, event);
  }
  await scene.run(async () => {
    await clock.advance(0);
    assert.deepEqual(eventsLeft(scene), []);
    const unread = scene.counted.filter((outcome) => outcome === "invalid").length;
    // Some are on their way while the watch has not said yet that others are gone.
    assert.ok(unread >= 50 && unread <= 150, `${unread} unread`);
    assert.equal(asked.filter((call) => call.startsWith("get pods ")).length, MAX_EVENTS_OF_NODE + 50 - unread);
  });
});

Deno.test("a new list of the events of failures, none of which is kept, has their pods checked and nothing reported again", async () => {
  const scene = openMonitorScene();
  const { cluster, clock } = scene;
  furnish(scene, "arm64");
  warn(scene, makeFailedPod());
  const listsOf = (): number => cluster.lists.filter((list) => list.startsWith("events ")).length;
  await scene.run(async () => {
    await clock.advance(0);
    assert.deepEqual([scene.recorded.length, scene.counted], [1, ["status"]]);
    const before = listsOf();
    // A silent watch is opened anew, with a list.
    await clock.advance(100_000);
    assert.ok(listsOf() > before);
    assert.deepEqual([scene.recorded.length, scene.counted], [1, ["status"]]);
  });
});

Deno.test("EventBacklog counts what waits of each node, and records of images of none", () => {
  const backlog = new EventBacklog({ log: silentLogger });
  const come = (node: string, from: number, to: number): void => {
    for (let at = from; at < to; at++) backlog.note({ kind: "apply", key: `${node}-${at}`, value: node });
  };
  for (const node of ["", FLOODING]) come(node, 0, MAX_EVENTS_OF_NODE + 1);
  come("node-1", 0, MAX_EVENTS_OF_NODE);
  backlog.note({ kind: "apply", key: "node-1-0", value: "node-1", previous: "node-1" });
  assert.deepEqual(["", FLOODING, "node-1"].map((node) => backlog.isFull(node)), [false, true, false]);
  backlog.note({ kind: "delete", key: `${FLOODING}-0`, value: FLOODING });
  assert.equal(backlog.isFull(FLOODING), false);
});
