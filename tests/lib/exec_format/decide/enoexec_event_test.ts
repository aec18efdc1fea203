import assert from "node:assert/strict";
import {
  buildEnoexecEvent,
  type ExecFailure,
  parseEnoexecEvent,
  parseEnoexecState,
} from "../../../../lib/exec_format/decide/enoexec_event.ts";
import { EnoexecLabel } from "../../../../lib/names.ts";

const HEX = "ab".repeat(32);
const FAILURE: ExecFailure = {
  nodeName: "node-1",
  podNamespace: "shop",
  podName: "web-1",
  podUid: "uid-1",
  containerId: `containerd://${HEX}`,
  command: "/app",
  isEntryPoint: true,
  atMs: Date.parse("2026-11-21T12:00:00Z"),
};
const OWNER = { namespace: "archway-system", name: "enoexec-event-daemon", uid: "uid-d" };

Deno.test("buildEnoexecEvent() names the event after the container, owned by the DaemonSet, and keeps the status apart", () => {
  const { object, status } = buildEnoexecEvent(FAILURE, OWNER);
  assert.deepEqual([object.metadata.name, object.metadata.namespace], [HEX, "archway-system"]);
  assert.deepEqual(object.metadata.ownerReferences, [
    { apiVersion: "apps/v1", kind: "DaemonSet", name: "enoexec-event-daemon", uid: "uid-d" },
  ]);
  assert.equal(object.status, undefined);
  const containerID = `containerd://${HEX}`;
  assert.deepEqual(status, { nodeName: "node-1", podName: "web-1", podNamespace: "shop", containerID });
});

Deno.test("buildEnoexecEvent() falls back to the pod's uid for a name, and leaves an unknown command out", () => {
  const { object } = buildEnoexecEvent({ ...FAILURE, containerId: "odd", command: undefined }, OWNER);
  assert.equal(object.metadata.name, "uid-1");
  assert.ok(!("archway.dev/command" in (object.metadata.annotations ?? {})));
});

Deno.test("parseEnoexecEvent() reads what buildEnoexecEvent() wrote, with a hostile command made harmless", () => {
  const { object, status } = buildEnoexecEvent({ ...FAILURE, command: `a\n\u0007${"x".repeat(300)}` }, OWNER);
  const metadata = { ...object.metadata, creationTimestamp: "2026-11-21T12:00:01Z", finalizers: ["f"] };
  const event = parseEnoexecEvent({ ...object, metadata, status });
  assert.equal(event.command, `a??${"x".repeat(125)}`);
  assert.deepEqual([event.podUid, event.podName, event.nodeName], ["uid-1", "web-1", "node-1"]);
  assert.deepEqual([event.isEntryPoint, event.createdAtMs], [true, FAILURE.atMs + 1_000]);
  assert.deepEqual([event.isHeld, event.isDeleting], [true, false]);
});

Deno.test("parseEnoexecEvent() reads an event without status, labels and annotations as empty", () => {
  const event = parseEnoexecEvent({ metadata: { name: "e" } });
  assert.deepEqual([event.podName, event.podUid, event.command, event.error], ["", "", "", undefined]);
  assert.deepEqual([event.createdAtMs, event.isHeld, event.isEntryPoint], [0, false, false]);
});

const STATES: readonly (readonly [string, Readonly<Record<string, unknown>>, boolean])[] = [
  ["a report that the leader has not handled", {}, false],
  ["a report with the error label", { labels: { [EnoexecLabel.error]: "pod-not-found" } }, true],
  ["a record of an image", { labels: { [EnoexecLabel.failedArchitecture]: "arm64" } }, true],
  [
    "a record that is being deleted",
    { labels: { [EnoexecLabel.failedArchitecture]: "arm64" }, deletionTimestamp: "2026-11-21T12:00:00Z" },
    false,
  ],
];

for (const [name, metadata, isHandled] of STATES) {
  Deno.test(`parseEnoexecState() reads ${name} as ${isHandled ? "handled" : "pending"}`, () => {
    assert.deepEqual(parseEnoexecState({ metadata: { name: "e", ...metadata } }), { name: "e", isHandled });
  });
}
