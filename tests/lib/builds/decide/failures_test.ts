import assert from "node:assert/strict";
import type { PublishOutcome } from "../../../../lib/builds/decide/effects.ts";
import type { BuildFailureReason } from "../../../../lib/builds/decide/types.ts";
import { listAt, objectAt, textAt } from "../../../../lib/json.ts";
import type { KubeObject } from "../../../../lib/k8s/types.ts";
import { IDS } from "./make.ts";
import { building, envOf, Simulator } from "./simulator.ts";

const MINUTE = 60_000;

function halfway(): Simulator {
  const bed = building();
  bed.completeJob(bed.jobOf("amd64"));
  return bed;
}

function digestName(job: KubeObject): string {
  return envOf(job).get("DIGEST_CONFIGMAP_NAME") ?? "";
}

function tagOf(job: KubeObject): string {
  return envOf(job).get("TAG") ?? "";
}

function wait(bed: Simulator, ms = 10_000): void {
  bed.settle({ run: false });
  bed.nowMs += ms;
  bed.settle({ run: false });
}

type Row = readonly [name: string, becomes: string, make: (bed: Simulator, job: KubeObject) => void, waitMs?: number];

const ROWS: readonly Row[] = [
  [
    "P-070 it takes longer than its deadline",
    "Failed DeadlineExceeded",
    (bed, job) => bed.failJob(job, "DeadlineExceeded"),
  ],
  ["P-069 one of its pods was evicted", "Building", (bed, job) => bed.setJob(job, { active: 1 })],
  ["O-051 three of its pods failed", "Building", (bed, job) => bed.setJob(job, { active: 1, failed: 3 })],
  ["O-128 it is deleted", "Interrupted JobDeleted", (bed, job) => void bed.jobs.delete(job.metadata.name)],
  ["it leaves no digest, and the tag has its image", "Succeeded", (bed, job) => {
    bed.completeJob(job);
    bed.objects.delete(digestName(job));
  }],
  ["it leaves no digest and no image", "Failed DigestMissing", (bed, job) => {
    bed.completeJob(job);
    bed.objects.delete(digestName(job));
    bed.tags.delete(tagOf(job));
  }],
  ["the image of its digest is not there", "Failed DigestMissing", (bed, job) => {
    bed.completeJob(job);
    for (const [name, image] of bed.images) if (image.architecture === "arm64") bed.images.delete(name);
  }],
  ["its digest is another Job's, and the tag has nothing", "Failed DigestMissing", (bed, job) => {
    bed.completeJob(job);
    bed.tags.delete(tagOf(job));
    const map = bed.objects.get(digestName(job)) ?? assert.fail("no digest");
    bed.objects.set(digestName(job), { ...map, data: { ...Object(map.data), jobUID: "another" } });
  }],
  ["its image has another architecture", "Failed ArchMismatch", (bed, job) => bed.completeJob(job, { arch: "amd64" })],
  ["its image names no build key", "Failed ArchMismatch", (bed, job) => bed.completeJob(job, { isLabelled: false })],
  ["reading its image is refused", "Failed PushDenied", (bed, job) => {
    bed.completeJob(job);
    bed.overrides.set("image ", { kind: "denied", message: "no" });
  }],
  ["P-081 the registry does not answer", "Building", (bed, job) => {
    bed.completeJob(job);
    bed.overrides.set("image ", { kind: "unknown", message: "timeout" });
  }],
  ["no node takes its pod for a while", "Preparing", (bed) => void bed.unschedulable.set("arm64", "0/2 nodes")],
  [
    "P-041 no node takes its pod for a quarter of an hour",
    "Failed NoNodeForArchitecture",
    (bed) => void bed.unschedulable.set("arm64", "0/2 nodes"),
    15 * MINUTE,
  ],
];

for (const [name, becomes, make, waitMs] of ROWS) {
  Deno.test(`${name.replace(IDS, "$&a Job of which ")}: the architecture is ${becomes}, and nothing is published unless all is well`, () => {
    const bed = halfway();
    make(bed, bed.jobOf("arm64"));
    wait(bed, waitMs);
    const one = bed.recorded("arm64");
    assert.equal([textAt(one, "state"), textAt(one, "reason")].join(" ").trim(), becomes);
    assert.equal(bed.published.length, becomes === "Succeeded" ? 1 : 0);
    if (becomes.startsWith("Failed")) assert.equal(bed.condition(bed.build(), "Failed")?.status, "True");
  });
}

type Course = readonly [
  name: string,
  ends: "published" | string,
  outcomes: readonly PublishOutcome[],
  waitMs?: number,
  jobs?: readonly string[],
];

const message = "the registry's words";
const TRANSIENT = { kind: "retry", message } as const;
const LOST = { kind: "lost", arch: "arm64", message } as const;
const fails = (reason: BuildFailureReason, arch?: "arm64"): PublishOutcome => ({
  kind: "failed",
  reason,
  message,
  arch,
});
const PUBLICATIONS: readonly Course[] = [
  ["P-117 the registry is busy for a moment", "published", [TRANSIENT, TRANSIENT], MINUTE],
  ["the registry stays busy", "RegistryUnavailable", Array.from({ length: 20 }, () => TRANSIENT), 5 * MINUTE],
  ["P-145 the index is refused in both forms", "IndexUnsupported", [fails("IndexUnsupported")]],
  ["P-146 the registry says another digest", "DigestMismatch", [fails("DigestMismatch")]],
  ["P-137 an image is for another architecture", "ArchMismatch", [fails("ArchMismatch", "arm64")]],
  ["P-136 an image is lost once", "published", [LOST], 0, ["amd64", "arm64", "arm64"]],
  ["an image is lost twice", "ImageLost", [LOST, LOST], 0, ["amd64", "arm64", "arm64"]],
  ["P-088 the tag cannot be moved", "published", [{ kind: "tag immutable", message }]],
];

for (const [name, ends, outcomes, waitMs = 0, jobs = ["amd64", "arm64"]] of PUBLICATIONS) {
  Deno.test(`${name.replace(IDS, "$&a publication of which ")} ends ${ends}`, () => {
    const bed = new Simulator();
    bed.outcomes = [...outcomes];
    for (let round = 0; round < 30; round++) {
      bed.settle();
      bed.nowMs += waitMs;
    }
    assert.deepEqual(bed.made, jobs);
    const failed = bed.condition(bed.build(), "Failed");
    if (ends === "published") assert.notEqual(bed.pullSpec(), "");
    else assert.ok(failed?.status === "True" && String(failed.message).includes(ends), JSON.stringify(failed));
    assert.equal(bed.published.length, ends === "published" ? 1 : 0);
    if (name.includes("moved")) assert.match(bed.published.join(), /-r1$/);
  });
}

Deno.test("O-031 P-046 P-048 a preflight that fails makes no Job, and the build names the architecture", () => {
  const bed = new Simulator(["amd64", "arm64"], { files: [{ containerfileArch: "ARM64", content: "FETCH x\n" }] });
  bed.settle();
  assert.deepEqual(bed.made, []);
  assert.match(String(bed.condition(bed.build(), "Failed")?.message), /^arm64: InvalidContainerfile/);
  const status = objectAt(bed.build(), "status");
  assert.equal(listAt(status, "relatedObjects"), undefined);
});

const denied = { kind: "denied", message } as const;
const DENIALS: readonly (readonly [what: string, jobs: readonly string[], deny: (bed: Simulator) => void])[] = [
  ["of the index", [], (bed) => void bed.outcomes.push(fails("PushDenied"))],
  ["of a look at the images that Jobs pushed", [], (bed) => {
    bed.settle({ run: false });
    bed.runJobs();
    bed.overrides.set("image ", denied);
  }],
  ["before any Job", ["amd64", "arm64"], (bed) => void bed.overrides.set("push ", denied)],
];

for (const [what, jobs, deny] of DENIALS) {
  Deno.test(`a denial ${what} is tried again once the push secret has changed, and what was pushed is not built again`, () => {
    const bed = new Simulator();
    deny(bed);
    bed.settle();
    assert.match(String(bed.condition(bed.build(), "Failed")?.message), /PushDenied/);
    const { metadata: { uid } } = bed.build();
    bed.reset();
    bed.overrides.clear();
    const { wakeAtMs = 0, effects } = bed.decide();
    assert.ok(wakeAtMs > bed.nowMs && effects.length === 0, "it waits for another secret");
    bed.secretVersions = { pull: "1", push: "2" };
    bed.settle();
    assert.deepEqual([bed.made, bed.published.length], [jobs, 1]);
    assert.notEqual(bed.build().metadata.uid, uid);
    assert.notEqual(bed.pullSpec(), "");
    assert.deepEqual(bed.events.filter(({ reason }) => reason === "RebuildRequested").length, 1);
  });
}

Deno.test("a changed push secret does not bring a Job back that failed by itself", () => {
  const bed = halfway();
  bed.overrides.set("image ", denied);
  bed.failJob(bed.jobOf("arm64"));
  bed.settle();
  bed.reset();
  bed.overrides.clear();
  bed.secretVersions = { pull: "1", push: "2" };
  bed.settle();
  assert.deepEqual([bed.made, bed.condition(bed.build(), "Failed")?.status], [[], "True"]);
});
