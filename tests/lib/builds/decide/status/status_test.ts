import assert from "node:assert/strict";
import fc from "fast-check";
import type { PublishOutcome } from "../../../../../lib/builds/decide/effects.ts";
import { type JobObservation, parseBuildJob } from "../../../../../lib/builds/decide/parse/job.ts";
import {
  aggregate,
  isTerminal,
  isTransition,
  jobStateOf,
  renderConditions,
  stateOfBuild,
} from "../../../../../lib/builds/decide/status/aggregate.ts";
import { MAX_ATTEMPTS, nextTag, withPublishOutcome } from "../../../../../lib/builds/decide/status/publish_outcome.ts";
import { parseStoredRecord, renderRecord } from "../../../../../lib/builds/decide/status/record.ts";
import {
  ARCHITECTURE_STATES,
  type ArchitectureBuild,
  type ArchitectureState,
  type BuildRecord,
  type IndexState,
  type MachineOSBuildState,
} from "../../../../../lib/builds/decide/types.ts";
import { parseMachineOSBuild } from "../../../../../lib/builds/decide/parse/machine_os_config.ts";
import { IDS, rawBuild } from "../make.ts";

function job(status: Readonly<Record<string, unknown>>, isDeleting = false): JobObservation {
  const metadata = { name: "j", ...(isDeleting ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}) };
  return parseBuildJob({ metadata, status });
}

const resumed = [{ type: "Suspended", status: "False" }];
const complete = [{ type: "Complete", status: "True" }];
const failure = (reason: string): unknown => [{ type: "Failed", status: "True", reason }];
const JOBS: readonly (readonly [name: string, JobObservation, state: string])[] = [
  ["O-128 deleted while it works", job({ active: 1 }, true), "Interrupted"],
  ["deleted before anything happened", job({}, true), "Interrupted"],
  ["that nothing has happened to", job({}), "Prepared"],
  ["O-051 with an active pod", job({ active: 1 }), "Building"],
  ["O-129 with a pod that ended and is not counted", job({ uncountedTerminatedPods: { failed: ["x"] } }), "Building"],
  ["O-051 with three failed pods", job({ failed: 3 }), "Building"],
  ["O-051 with four failed pods", job({ failed: 4 }), "Failed BuildFailed"],
  ["with four failed pods, being deleted", job({ failed: 4 }, true), "Failed BuildFailed"],
  ["that succeeded, before its conditions", job({ succeeded: 1 }), "Succeeded"],
  ["O-051 that is complete", job({ succeeded: 1, conditions: complete }), "Succeeded"],
  ["that is complete, being deleted", job({ succeeded: 1, conditions: complete }, true), "Succeeded"],
  ["that succeeded and failed", job({ succeeded: 1, conditions: failure("X") }), "Failed BuildFailed"],
  ["that succeeded, with another condition", job({ succeeded: 1, conditions: resumed }), "Building"],
  ["P-070 that took too long", job({ failed: 1, conditions: failure("DeadlineExceeded") }), "Failed DeadlineExceeded"],
  ["whose builder gave up", job({ failed: 1, conditions: failure("PodFailurePolicy") }), "Failed InvalidContainerfile"],
  ["P-069 whose pod was evicted and made again", job({ active: 1, failed: 0 }), "Building"],
];

for (const [name, observed, expected] of JOBS) {
  Deno.test(`${name.replace(IDS, "$&jobStateOf() a Job ")} is ${expected}`, () => {
    const state = jobStateOf(observed);
    assert.equal(state.kind === "Failed" ? `Failed ${state.reason}` : state.kind, expected);
  });
}

const ABSENT: IndexState = { kind: "absent" };
const PUBLISHED: IndexState = { kind: "published", reference: "r@d", tag: "t", children: [] };
const BROKEN: IndexState = { kind: "failed", reason: "PushDenied", message: "no" };

function aggregated(archs: readonly ArchitectureState[], index: IndexState = ABSENT): MachineOSBuildState {
  return aggregate(archs.map((state) => ({ state })), index);
}

type Row = readonly [archs: readonly ArchitectureState[], state: MachineOSBuildState, index?: IndexState];
const TABLE: readonly Row[] = [
  [["Pending", "Pending"], "initial"],
  [["Pending", "Preparing"], "Prepared"],
  [["Preparing", "Preparing"], "Prepared"],
  [["Reused", "Pending"], "Prepared"],
  [["Reused", "Preparing"], "Prepared"],
  [["Building", "Pending"], "Building"],
  [["Reused", "Building"], "Building"],
  [["Succeeded", "Preparing"], "Building"],
  [["Succeeded", "Building"], "Building"],
  [["Succeeded", "Succeeded"], "Building"],
  [["Succeeded", "Reused"], "Building", { kind: "retry", attempts: 1, retryAtMs: 0, message: "" }],
  [["Succeeded", "Reused"], "Succeeded", PUBLISHED],
  [["Reused", "Reused"], "Succeeded", PUBLISHED],
  [["Succeeded", "Succeeded"], "Failed", BROKEN],
  [["Failed", "Building"], "Building"],
  [["Failed", "Preparing"], "Building"],
  [["Failed", "Succeeded"], "Failed"],
  [["Failed", "Pending"], "Failed"],
  [["Failed", "Interrupted"], "Failed"],
  [["Interrupted", "Building"], "Building"],
  [["Interrupted", "Succeeded"], "Interrupted"],
  [["Interrupted", "Pending"], "Interrupted"],
];

for (const [archs, state, index = ABSENT] of TABLE) {
  Deno.test(`P-060 aggregate() ${archs.join(" and ")}, index ${index.kind}: ${state}`, () => {
    assert.equal(aggregated(archs, index), state);
    assert.equal(aggregated(archs.toReversed(), index), state);
  });
}

Deno.test("P-060 aggregate() says Succeeded only when all is done and published, and ends only when nothing runs", () => {
  const states = fc.array(fc.constantFrom(...ARCHITECTURE_STATES), { minLength: 1, maxLength: 4 });
  fc.assert(fc.property(states, fc.constantFrom(ABSENT, PUBLISHED, BROKEN), (archs, index) => {
    const state = aggregated(archs, index);
    const done = archs.every((one) => one === "Succeeded" || one === "Reused");
    assert.equal(state === "Succeeded", done && index.kind === "published");
    if (isTerminal(state)) assert.ok(!archs.includes("Building") && !archs.includes("Preparing"));
  }));
});

const ALLOWED = ["initial>Prepared", "initial>Building", "Prepared>Building"];
const ALL: readonly MachineOSBuildState[] = ["initial", "Prepared", "Building", "Succeeded", "Failed", "Interrupted"];

for (const from of ALL) {
  for (const to of ALL) {
    const isWanted = ALLOWED.includes(`${from}>${to}`) || !isTerminal(from) && isTerminal(to);
    Deno.test(`${isWanted ? "O-082" : "O-083"} isTransition() ${from} to ${to} is ${isWanted ? "made" : "not made"}`, () => {
      assert.equal(isTransition(from, to), isWanted);
    });
  }
}

const DONE: ArchitectureBuild = { arch: "amd64", buildKey: "k", state: "Succeeded", attempts: 1, digest: "sha256:a" };
const RECORD: BuildRecord = { archs: [DONE, { ...DONE, arch: "arm64", job: { name: "j", uid: "u" } }], index: ABSENT };
const AT = { tag: "t", nowMs: 1_000_000, pushVersion: "1" };
const message = "the registry's words";

const FAILURES: readonly (readonly [name: string, PublishOutcome, expected: Partial<BuildRecord> | string])[] = [
  ["P-146 another digest", { kind: "failed", reason: "DigestMismatch", message }, "DigestMismatch"],
  ["P-101 a refused push", { kind: "failed", reason: "PushDenied", message }, "PushDenied"],
  ["P-145 an index that is refused", { kind: "failed", reason: "IndexUnsupported", message }, "IndexUnsupported"],
];

for (const [name, outcome, reason] of FAILURES) {
  Deno.test(`${name.replace(IDS, `$&withPublishOutcome() fails with ${reason} after `)}, and keeps what was built`, () => {
    const { index, archs } = withPublishOutcome(RECORD, outcome, AT);
    const denied = reason === "PushDenied" ? { deniedVersion: AT.pushVersion } : {};
    assert.deepEqual(index, { kind: "failed", reason, message, ...denied });
    assert.deepEqual(archs, RECORD.archs);
    assert.equal(aggregate(archs, index), "Failed");
  });
}

Deno.test("P-136 withPublishOutcome() builds an image once more that is gone, and fails when it goes again", () => {
  const gone = { kind: "lost", arch: "arm64", message } as const;
  const once = withPublishOutcome(RECORD, gone, AT);
  assert.deepEqual(once.archs.map(({ state }) => state), ["Succeeded", "Pending"]);
  const again = { ...once, archs: once.archs.map((one): ArchitectureBuild => ({ ...one, state: "Succeeded" })) };
  const [, arm] = withPublishOutcome(again, gone, AT).archs;
  assert.deepEqual([arm?.state, arm?.reason], ["Failed", "ImageLost"]);
});

Deno.test("P-137 withPublishOutcome() fails an architecture whose image is for another one", () => {
  const other = { kind: "failed", reason: "ArchMismatch", arch: "arm64", message } as const;
  const [amd, arm] = withPublishOutcome(RECORD, other, AT).archs;
  assert.deepEqual([amd?.state, arm?.state, arm?.reason], ["Succeeded", "Failed", "ArchMismatch"]);
});

Deno.test("withPublishOutcome() waits 2 s to 5 min while a registry is busy, as long as it asks, and gives up after 20 times", () => {
  const waits: number[] = [];
  let record = RECORD;
  for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
    record = withPublishOutcome(record, { kind: "retry", message }, AT);
    assert.ok(record.index.kind === "retry" && record.index.attempts === attempt);
    waits.push((record.index.retryAtMs - AT.nowMs) / 1_000);
  }
  assert.deepEqual(waits.slice(0, 9), [2, 4, 8, 16, 32, 64, 128, 256, 300]);
  const asked = withPublishOutcome(RECORD, { kind: "retry", message, retryAfterMs: 60_000 }, AT).index;
  assert.ok(asked.kind === "retry" && asked.retryAtMs === AT.nowMs + 60_000);
  const end = withPublishOutcome(record, { kind: "retry", message }, AT).index;
  assert.ok(end.kind === "failed" && end.reason === "RegistryUnavailable");
});

Deno.test("P-088 withPublishOutcome() takes another tag where one cannot be moved", () => {
  const first = withPublishOutcome(RECORD, { kind: "tag immutable", message }, AT).index;
  assert.ok(first.kind === "retry" && first.tag === "t-r1");
  const published = { kind: "published", reference: "r@d", children: [], isNew: true } as const;
  const { index } = withPublishOutcome({ ...RECORD, index: first }, published, { ...AT, tag: "t-r1" });
  assert.deepEqual(index, { kind: "published", reference: "r@d", tag: "t-r1", children: [] });
  assert.deepEqual([nextTag("x"), nextTag("x-r1"), nextTag("x-r9")], ["x-r1", "x-r2", "x-r10"]);
});

const annotations = { "machineconfiguration.openshift.io/rendered-image-push-secret": "push" };
const BUILD = parseMachineOSBuild(rawBuild({ name: "worker-1", uid: "u", metadata: { annotations } }));

Deno.test("a record survives its ConfigMap, whatever is in it, also what a later version wrote", () => {
  const text = fc.option(fc.string(), { nil: undefined });
  const count = fc.nat();
  const one = fc.record({
    state: fc.constantFrom(...ARCHITECTURE_STATES),
    buildKey: fc.stringMatching(/^[0-9a-f]{64}$/),
    attempts: count,
    digest: text,
    message: text,
    from: text,
    wasLost: fc.option(fc.boolean(), { nil: undefined }),
    ofLater: text,
  });
  const retry = { kind: "retry", attempts: 2, retryAtMs: 5, message: "m", tag: "t" } as const;
  const index = fc.constantFrom<IndexState>(ABSENT, PUBLISHED, BROKEN, retry);
  fc.assert(fc.property(one, one, index, text, (amd, arm, index, ofLater) => {
    const archs = [{ ...amd, arch: "amd64" }, { ...arm, arch: "arm64" }] as const;
    const record: BuildRecord = { archs, index: Object.assign({}, index, { ofLater }) };
    const stored = parseStoredRecord(renderRecord(record, { build: BUILD, namespace: "n" }));
    assert.deepEqual(JSON.parse(JSON.stringify(stored?.record)), JSON.parse(JSON.stringify(record)));
    const { build, buildUid, pushSpec, pushSecret } = stored ?? {};
    assert.deepEqual([build, buildUid, pushSpec, pushSecret], ["worker-1", "u", BUILD.pushSpec, "push"]);
  }));
});

Deno.test("parseStoredRecord() takes a ConfigMap of something else for none, and broken texts for nothing recorded", () => {
  const map = renderRecord(RECORD, { build: BUILD, namespace: "n" });
  assert.equal(parseStoredRecord({ ...map, metadata: { name: "other" } }), undefined);
  const data = { amd64: "{", arm64: JSON.stringify({ ...DONE, arch: "amd64" }), index: "[]" };
  const stored = parseStoredRecord({ ...map, data });
  assert.deepEqual(stored?.record, { archs: [], index: { kind: "absent" } });
});

Deno.test("P-067 renderConditions() has seven conditions, one of the five true, and keeps times of what stays", () => {
  const common = { message: "", archs: RECORD.archs, nowMs: 5_000 };
  const first = renderConditions({ ...common, state: "Building", index: ABSENT, previous: [] });
  const next = renderConditions({ ...common, state: "Succeeded", index: PUBLISHED, previous: first, nowMs: 9_000 });
  assert.equal(next.length, 7);
  assert.equal(stateOfBuild({ status: { conditions: next } }), "Succeeded");
  const time = (type: string): string | undefined => next.find((one) => one.type === type)?.lastTransitionTime;
  assert.equal(time("Succeeded"), "1970-01-01T00:00:09Z");
  assert.equal(time("ArchBuildsComplete"), "1970-01-01T00:00:05Z");
});
