import assert from "node:assert/strict";
import { Deletions } from "../../../controllers/builds/controller.ts";
import type { EventRecorder } from "../../../lib/k8s/event_recorder.ts";

type Recorded = Parameters<EventRecorder["record"]>[0];

function reported(note: (deletions: Deletions) => void): readonly Recorded[] {
  const events: Recorded[] = [];
  const deletions = new Deletions();
  note(deletions);
  deletions.report({ record: (event) => void events.push(event) }, { name: "worker", uid: "1" });
  return events;
}

Deno.test("P-171 Deletions says nothing of what is gone, or is another one's", () => {
  const events = reported((deletions) => {
    for (const kind of ["deleted", "absent", "moved"] as const) deletions.note("registry.test/os:v1", { kind });
  });
  assert.deepEqual(events, []);
});

Deno.test("O-103 P-171 Deletions names what stays by its reason, and the right that is missing, in one event", () => {
  const [event, ...more] = reported((deletions) => {
    deletions.note("a.test/team/os:index", { kind: "forbidden", namespace: "team" });
    deletions.note("a.test/team/os:amd64", { kind: "forbidden", namespace: "team" });
    deletions.note("b.test/os:v1", { kind: "denied" });
  });
  assert.deepEqual([event?.type, event?.reason, event?.object.name], ["Warning", "ImageNotDeleted", "worker"]);
  assert.deepEqual(more, []);
  assert.equal(
    event?.message,
    "Images stay in the registry: a.test/team/os:index, a.test/team/os:amd64 (the account of image builds lacks the right " +
      'to delete imagestreamtags.image.openshift.io in the namespace "team"), b.test/os:v1 (the push secret may not delete ' +
      "there). Delete them there.",
  );
});
