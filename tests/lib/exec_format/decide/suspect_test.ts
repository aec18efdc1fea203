import assert from "node:assert/strict";
import {
  findSuspects,
  hasSuspectStatus,
  isConfirmed,
  type Suspect,
} from "../../../../lib/exec_format/decide/suspect.ts";
import { ended, makeFailedPod } from "./make.ts";

const NO_MATCH =
  "rpc error: code = NotFound desc = get image config descriptor: no match for platform in manifest sha256:5d: not found";

const FOUND:
  readonly (readonly [title: string, status: Readonly<Record<string, unknown>>, suspicion: string | undefined])[] = [
    ["a refused pull", { state: { waiting: { reason: "ErrImagePull", message: NO_MATCH } } }, "pull"],
    ["a refused pull between two tries", {
      state: { waiting: { message: `Back-off pulling image "x": ErrImagePull: ${NO_MATCH}` } },
    }, "pull"],
    ["another failure of a pull", { state: { waiting: { message: "manifest unknown" } } }, undefined],
    ["an end at once with 1, as runc 1.1 has it", { state: ended(1) }, "ended"],
    ["an end at once with 255, as runc 1.4 has it", { state: ended(255) }, "ended"],
    ["an end of the container before", { state: { waiting: { message: "back-off" } }, lastState: ended(1) }, "ended"],
    ["last words that say so", { state: ended(1, { message: "exec /app: exec format error\n" }) }, "message"],
    ["an end with 0", { state: ended(0) }, undefined],
    ["an end with 128: no such program", { state: ended(128) }, undefined],
    ["an end after three seconds", { state: ended(1, { seconds: 3 }) }, undefined],
    ["last words after a minute", { state: ended(1, { seconds: 50, message: "exec format error" }) }, undefined],
    ["an end without times", { state: { terminated: { exitCode: 1 } } }, undefined],
    ["a container that runs", {}, undefined],
  ];
for (const [title, status, suspicion] of FOUND) {
  Deno.test(`findSuspects() takes ${title} for ${suspicion ?? "nothing"}`, () => {
    assert.deepEqual(
      findSuspects(makeFailedPod({ status })).map((one) => one.suspicion),
      suspicion === undefined ? [] : [suspicion],
    );
  });
}

function suspect(suspicion: Suspect["suspicion"]): Suspect {
  const [found] = findSuspects(makeFailedPod({ status: { state: ended(1) } }));
  return { container: found?.container ?? assert.fail("no suspect"), suspicion };
}

type Facts = Parameters<typeof isConfirmed>[1];
const KNOWN: readonly (readonly [title: string, facts: Partial<Facts>, expected: boolean])[] = [
  ["an image without the node's architecture", { imageArchitectures: ["arm64"] }, true],
  ["an image with the node's architecture: it merely fails", { imageArchitectures: ["amd64", "arm64"] }, false],
  ["an image that cannot be inspected", {}, false],
  ["a log that ends with it", { imageArchitectures: ["amd64"], lastLogLine: "exec /app: exec format error" }, true],
  ["a log whose last line says something else", { imageArchitectures: ["amd64"], lastLogLine: "no such table" }, false],
  ["a node without architecture", { architecture: "", imageArchitectures: ["arm64"] }, false],
];
for (const [title, given, expected] of KNOWN) {
  Deno.test(`isConfirmed() ${expected ? "reports" : "does not report"} ${title}`, () => {
    const none: Facts = { architecture: "amd64", imageArchitectures: undefined, lastLogLine: undefined };
    assert.equal(isConfirmed(suspect("ended"), { ...none, ...given }), expected);
  });
}

Deno.test("isConfirmed() reads nothing more where the status itself reports it", () => {
  const none = { architecture: "", imageArchitectures: undefined, lastLogLine: undefined };
  assert.deepEqual([isConfirmed(suspect("pull"), none), isConfirmed(suspect("message"), none)], [true, true]);
});

Deno.test("hasSuspectStatus() keeps of all failed pods those that must be checked", () => {
  const [kept, left] = [[ended(1), ended(255)], [ended(0), ended(2), { running: {} }]];
  assert.deepEqual([...kept, ...left].filter((state) => hasSuspectStatus(makeFailedPod({ status: { state } }))), kept);
});
