import assert from "node:assert/strict";
import fc from "fast-check";
import type { KubeObject } from "../../../../lib/k8s/types.ts";
import { NO_ARCH, ownName, rawBuild, rawBuildNode, rawPool } from "./make.ts";
import { building, built, envOf, REBUILD, Simulator } from "./simulator.ts";

const MINUTE = 60_000;
const BOTH = ["amd64", "arm64"];

function halfFailed(reason?: string): Simulator {
  const bed = building();
  bed.completeJob(bed.jobOf("amd64"));
  bed.failJob(bed.jobOf("arm64"), reason);
  bed.settle({ run: false });
  return bed;
}

function unpublished(): Simulator {
  const bed = building();
  bed.outcomes.push({ kind: "failed", reason: "PushDenied", message: "no" });
  bed.settle();
  failed(bed);
  assert.equal(bed.pullSpec(), "");
  return bed;
}

function publishEach(bed: Simulator, ...names: readonly string[]): void {
  for (const name of names) {
    bed.edit({ files: [{ content: `FROM ${name}\n` }] });
    bed.settle();
  }
}

function failed(bed: Simulator): KubeObject {
  const build = bed.build();
  assert.equal(bed.condition(build, "Failed")?.status, "True");
  return build;
}

function archStatus(bed: Simulator): string {
  return bed.build().metadata.annotations?.["archway.dev/arch-status"] ?? "";
}

Deno.test("P-061 both Jobs run at a time, and the build says how far each is", () => {
  const bed = building();
  const owners = [...bed.jobs.values()].map((job) => job.metadata.ownerReferences?.[0]?.uid);
  assert.deepEqual(owners, Array(2).fill(bed.build().metadata.uid));
  bed.completeJob(bed.jobOf("amd64"));
  bed.setJob(bed.jobOf("arm64"), { active: 1 });
  bed.settle({ run: false });
  assert.equal(archStatus(bed), "amd64=Succeeded,arm64=Building");
  assert.equal(bed.condition(bed.build(), "Building")?.status, "True");
});

Deno.test("O-074 P-062 P-160 one architecture fails for good: nothing is published, and the pool says which", () => {
  const bed = halfFailed();
  failed(bed);
  assert.deepEqual([bed.published, bed.pullSpec()], [[], ""]);
  const degraded = bed.condition(bed.pool, "ImageBuildDegraded");
  assert.deepEqual([degraded?.status, degraded?.reason], ["True", "BuildFailed"]);
  assert.match(String(degraded?.message), /pool worker .*arm64: BuildFailed/);
  assert.deepEqual([bed.jobs.size, [...bed.objects.keys()].filter((name) => name.startsWith("mc-")).length], [2, 1]);
});

type Mended = readonly [title: string, begin: () => Simulator, mend: (bed: Simulator) => void, jobs: readonly string[]];

function dropRecords({ objects }: Simulator): void {
  for (const name of [...objects.keys()]) if (name.startsWith("archs-")) objects.delete(name);
}

/** What goes wrong, what is done about it, and the Jobs that are made after that until the one build is published. */
const MENDED: readonly Mended[] = [
  ["O-127 P-064 a text that is mended builds one architecture: the other is reused", halfFailed, (bed) => {
    bed.edit({ files: [NO_ARCH, { containerfileArch: "ARM64", content: "FROM configs\n" }] });
  }, ["arm64"]],
  ["autoResume makes a deleted Job again", building, (bed) => {
    bed.settings = { ...bed.settings, autoResume: true };
    bed.jobs.delete(bed.jobOf("arm64").metadata.name);
  }, ["arm64"]],
  ["P-071 a record that is deleted during a build comes back from Jobs, digests and tags", building, (bed) => {
    bed.completeJob(bed.jobOf("amd64"));
    bed.settle({ run: false });
    dropRecords(bed);
  }, []],
  ["O-130 a build that is deleted while it runs is made again", building, (bed) => bed.builds.clear(), BOTH],
  ["P-085 an empty rebuild annotation on a failed build builds what failed", halfFailed, (bed) => bed.rebuild(), [
    "arm64",
  ]],
  [
    "P-085 an empty rebuild annotation on a build that only could not be published publishes it, and builds nothing",
    unpublished,
    (bed) => bed.rebuild(),
    [],
  ],
];

for (const [title, begin, mend, jobs] of MENDED) {
  Deno.test(title, () => {
    const bed = begin();
    bed.reset();
    mend(bed);
    bed.settle();
    assert.deepEqual([bed.made, bed.builds.size, bed.published.length], [jobs, 1, 1]);
    assert.notEqual(bed.pullSpec(), "");
    assert.equal(bed.config.metadata.annotations?.[REBUILD], undefined);
  });
}

Deno.test("a record that is deleted after its build comes back by reuse of the images", () => {
  const bed = built();
  const before = bed.pullSpec();
  dropRecords(bed);
  bed.settle();
  assert.deepEqual([bed.made, bed.published, bed.pullSpec()], [[], [], before]);
  assert.ok([...bed.objects.keys()].some((name) => name.startsWith("archs-")));
});

Deno.test("P-063 the other architecture ends before the build fails", () => {
  const bed = building();
  bed.failJob(bed.jobOf("arm64"));
  bed.setJob(bed.jobOf("amd64"), { active: 1 });
  bed.settle({ run: false });
  assert.equal(bed.condition(bed.build(), "Building")?.status, "True");
  bed.completeJob(bed.jobOf("amd64"));
  bed.settle({ run: false });
  failed(bed);
  assert.equal(archStatus(bed), "amd64=Succeeded,arm64=Failed");
});

Deno.test("O-125 O-128 P-065 a deleted Job interrupts the build once the other is done; a rebuild resumes it", () => {
  const bed = building();
  bed.jobs.delete(bed.jobOf("arm64").metadata.name);
  bed.setJob(bed.jobOf("amd64"), { active: 1 });
  bed.settle({ run: false });
  assert.equal(bed.condition(bed.build(), "Building")?.status, "True");
  bed.runJobs();
  bed.completeJob(bed.jobOf("amd64"));
  bed.settle({ run: false });
  assert.equal(bed.condition(bed.build(), "Interrupted")?.status, "True");
  bed.reset();
  bed.rebuild();
  bed.settle();
  assert.deepEqual(bed.made, ["arm64"]);
  assert.notEqual(bed.pullSpec(), "");
});

Deno.test("P-066 nothing is written to a build that has ended", () => {
  const bed = built();
  for (let passes = 0; passes < 3; passes++) bed.pass();
  assert.equal(bed.writes, 0);
});

Deno.test("P-070 a Job that takes too long fails its architecture", () => {
  const bed = halfFailed("DeadlineExceeded");
  assert.match(String(bed.condition(failed(bed), "Failed")?.message), /^arm64: DeadlineExceeded/);
});

Deno.test("P-041 an architecture without a node waits, and fails after a quarter of an hour", () => {
  const bed = new Simulator(["amd64"]);
  bed.addNode({ reported: "arm64", unschedulable: true });
  bed.settle();
  assert.deepEqual(bed.made, ["amd64"]);
  bed.nowMs += 15 * MINUTE;
  bed.settle();
  assert.match(String(bed.condition(failed(bed), "Failed")?.message), /^arm64: NoNodeForArchitecture/);
});

Deno.test("P-043 an architecture that joins during a build: running Jobs go on under the new one", () => {
  const bed = building();
  const uidsNow = (): readonly unknown[] => [...bed.jobs.values()].map(({ metadata }) => metadata.uid);
  const uids = uidsNow();
  const old = bed.build().metadata;
  for (const job of bed.jobs.values()) bed.setJob(job, { active: 1 });
  bed.addNode({ reported: "s390x" });
  bed.settle({ run: false });
  assert.notEqual(bed.build().metadata.name, old.name);
  assert.deepEqual(uidsNow().filter((uid) => uids.includes(uid)), uids);
  for (const job of bed.jobs.values()) bed.completeJob(job);
  bed.settle();
  assert.deepEqual(bed.made, ["amd64", "arm64", "s390x"]);
  assert.equal(bed.published.length, 1);
});

Deno.test("an architecture that joins and leaves during a build has no Job any more, and the image of the other is published", () => {
  const bed = new Simulator(["amd64"]);
  const jobs = (): readonly unknown[] =>
    [...bed.jobs.values()].map(({ metadata }) => metadata.labels?.["archway.dev/arch"]);
  const published = [0, 1].map(() => {
    bed.settle({ run: false });
    bed.addNode({ reported: "arm64" });
    bed.settle({ run: false });
    assert.ok(jobs().includes("arm64"));
    bed.nodes = bed.nodes.slice(0, 1);
    bed.settle({ run: false });
    assert.ok(!jobs().includes("arm64"));
    bed.settle();
    assert.deepEqual(jobs(), []);
    assert.equal(bed.images.get(bed.pullSpec())?.architecture, "amd64");
    return bed.pullSpec();
  });
  assert.equal(published[1], published[0]);
});

Deno.test("P-044 with one Job at a time they come in the order of their architectures", () => {
  const bed = new Simulator(["s390x", "arm64", "amd64"]);
  bed.settings = { ...bed.settings, maxParallel: 1 };
  bed.settle({ run: false });
  assert.deepEqual(bed.made, ["amd64"]);
  bed.settle();
  assert.deepEqual(bed.made, ["amd64", "arm64", "s390x"]);
});

Deno.test("P-081 a registry that does not answer leads to no Job and no deletion", () => {
  const bed = built();
  const images = [...bed.images.keys()];
  bed.overrides.set("", { kind: "unknown", message: "timeout" });
  bed.pass();
  assert.equal(bed.writes, 0);
  assert.equal(bed.decide().wakeAtMs, bed.nowMs + 30_000);
  publishEach(bed, "configs");
  assert.deepEqual([bed.made, bed.deletedImages, [...bed.images.keys()]], [[], [], images]);
  bed.overrides.clear();
  bed.settle();
  assert.deepEqual(bed.made, ["amd64", "arm64"]);
});

Deno.test("a registry that does not answer is a condition with its reason, and ends the build after an hour", () => {
  const bed = new Simulator();
  bed.overrides.set("", { kind: "unknown", message: "certificate signed by unknown authority" });
  bed.settle();
  const waits = bed.condition(bed.build(), "ArchBuildsComplete");
  assert.equal(waits?.reason, "RegistryUnavailable");
  assert.match(String(waits?.message), /^0 of 2 .* amd64: certificate signed by unknown authority arm64: cert/);
  assert.equal(bed.events.filter(({ reason }) => reason === "ArchBuildWaiting").length, 2);
  bed.nowMs += 60 * MINUTE;
  bed.settle();
  assert.match(String(bed.condition(failed(bed), "Failed")?.message), /^amd64: RegistryUnavailable: certificate/);
  assert.deepEqual(bed.made, []);
});

Deno.test("a registry that answers again is not waited for any more, and its wait counts for no node's", () => {
  const bed = new Simulator();
  bed.overrides.set("push ", { kind: "unknown", message: "timeout" });
  bed.settle();
  bed.nowMs += 59 * MINUTE;
  bed.overrides.clear();
  bed.settle({ run: false });
  assert.equal(bed.condition(bed.build(), "ArchBuildsComplete")?.reason, "Waiting");
  bed.overrides.set("image ", { kind: "unknown", message: "timeout" });
  bed.settle();
  assert.match(String(bed.condition(bed.build(), "Building")?.message), /amd64: timeout/);
  bed.nowMs += 59 * MINUTE;
  bed.settle();
  bed.overrides.clear();
  bed.settle();
  assert.notEqual(bed.pullSpec(), "");
  const { data } = bed.objects.get(`archs-${bed.build().metadata.name}`) ?? assert.fail("no record");
  assert.doesNotMatch(JSON.stringify(data), /Since|timeout/);
});

for (
  const [id, what, image] of [
    ["P-082", "another key", { architecture: "arm64", labels: { "archway.dev.build-key": "x" }, children: [] }],
    ["P-083", "another architecture", { architecture: "amd64", labels: {}, children: [] }],
  ] as const
) {
  Deno.test(`${id} an image of ${what} under the tag is not reused, and an event says why`, () => {
    const bed = new Simulator();
    bed.pass();
    const probe = new Simulator();
    probe.settle({ run: false });
    const tag = envOf(probe.jobOf("arm64")).get("TAG") ?? "";
    bed.tags.set(tag, "sha256:old");
    bed.images.set("registry.test/org/os@sha256:old", image);
    bed.settle();
    assert.deepEqual(bed.made, ["amd64", "arm64"]);
    assert.ok(bed.events.some(({ reason }) => reason === "ArchBuildNotReused"));
  });
}

Deno.test("P-084 O-148 going back to what was built before builds nothing, and gives the same image", () => {
  const bed = built();
  bed.settings = { ...bed.settings, retainImages: 9 };
  const first = bed.pullSpec();
  publishEach(bed, "a", "b");
  bed.reset();
  bed.edit({});
  bed.settle();
  assert.deepEqual([bed.made, bed.pullSpec()], [[], first]);
});

const REBUILDS: readonly (readonly [value: string, jobs: readonly string[]])[] = [
  ["", ["amd64", "arm64"]],
  ["all", ["amd64", "arm64"]],
  ["arm64", ["arm64"]],
  ["arm64,bogus", ["arm64"]],
  ["bogus", []],
];

for (const [value, jobs] of REBUILDS) {
  Deno.test(`P-085 P-087 the rebuild annotation "${value}" builds [${jobs.join(", ")}] under the same name, and goes`, () => {
    const bed = built();
    const { name, uid } = bed.build().metadata;
    bed.rebuild(value);
    bed.settle();
    assert.deepEqual(bed.made, jobs);
    assert.equal(bed.build().metadata.name, name);
    assert.equal(bed.build().metadata.uid !== uid, jobs.length > 0);
    const left = Object.keys(bed.config.metadata.annotations ?? {});
    assert.deepEqual(left.filter((key) => /rebuild/.test(key)), []);
    assert.equal(
      bed.events.some(({ reason, type }) => reason === "RebuildRequested" && type === "Warning"),
      value.includes("bogus"),
    );
  });
}

function begun(what: string): Simulator {
  const bed = what === "first build" ? new Simulator() : built();
  if (what === "rebuild") bed.annotate({ [REBUILD]: "arm64" });
  if (what === "new text") bed.edit({ files: [{ content: "FROM new\n" }] });
  return bed;
}

function namesIn({ builds, jobs, objects, tags }: Simulator): readonly string[] {
  return [builds, jobs, objects, tags].flatMap((all) => [...all.keys()].toSorted());
}

Deno.test("O-079 O-080 O-131 P-086 P-180 a controller that ends after any write, in any pass, comes to the same end with the same Jobs", () => {
  const stops = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 40 });
  fc.assert(
    fc.property(stops, fc.constantFrom("first build", "rebuild", "new text"), (stops, what) => {
      const bed = begun(what);
      for (const stop of stops) {
        bed.pass(stop);
        if (stop === 0) bed.runJobs();
      }
      bed.settle();
      const undisturbed = begun(what);
      undisturbed.settle();
      assert.deepEqual(namesIn(bed), namesIn(undisturbed));
      assert.deepEqual(bed.made.toSorted(), what === "rebuild" ? ["arm64"] : ["amd64", "arm64"]);
      assert.equal([...bed.builds.values()].length, what === "new text" ? 2 : 1);
      assert.ok(bed.images.has(bed.pullSpec()));
      assert.equal(bed.jobs.size, 0);
    }),
    { numRuns: 200 },
  );
});

Deno.test("P-072 every second write is refused because somebody else was faster: the same end, and no result is lost", () => {
  for (const what of ["first build", "rebuild", "new text"]) {
    const bed = begun(what);
    let passes = 0;
    for (let isOver = false; !isOver; passes++) {
      assert.ok(passes < 200, `${what}: does not come to rest`);
      const isQuiet = bed.passWithConflicts();
      isOver = !bed.runJobs() && isQuiet;
    }
    assert.deepEqual(bed.made.toSorted(), what === "rebuild" ? ["arm64"] : ["amd64", "arm64"], what);
    const children = bed.images.get(bed.pullSpec())?.children ?? [];
    assert.equal(children.length, 2, what);
    assert.equal(bed.jobs.size, 0, what);
  }
});

Deno.test("P-185 there and back within seconds ends at the first, with no Job left of the second", () => {
  const bed = building();
  const first = bed.build().metadata.name;
  bed.edit({ files: [{ content: "FROM other\n" }] });
  bed.pass();
  bed.pass();
  assert.notEqual(bed.build().metadata.name, first);
  bed.edit({});
  bed.settle();
  assert.equal(bed.jobs.size, 0);
  assert.deepEqual([bed.builds.size, bed.build().metadata.name], [1, first]);
  assert.notEqual(bed.pullSpec(), "");
});

Deno.test("P-089 a deleted index is pushed again, the same, without a Job", () => {
  const bed = built();
  const before = bed.pullSpec();
  bed.images.delete(before);
  bed.settle();
  assert.deepEqual([bed.made, bed.published.length, bed.pullSpec()], [[], 1, before]);
  assert.ok(bed.images.has(before));
});

Deno.test("P-162 a digest that is set already is not set again", () => {
  const bed = built();
  bed.configure({});
  const before = bed.pullSpec();
  bed.settle();
  assert.equal(bed.pullSpec(), before);
  assert.ok(!bed.events.some(({ reason }) => reason === "IndexPublished"));
});

Deno.test("O-071 O-075 a change during a build deletes the old build with all that belongs to it", () => {
  const bed = building();
  const old = bed.build().metadata.name;
  publishEach(bed, "other");
  assert.ok(!bed.builds.has(old));
  assert.deepEqual([...bed.objects.keys()].filter((name) => name.includes(old)), []);
});

Deno.test("P-170 succeeded builds stay, and the oldest goes when there are more than two", () => {
  const bed = built();
  publishEach(bed, "a", "b", "c");
  assert.equal(bed.builds.size, 2);
  assert.ok(bed.deletedImages.length >= 3);
  const [first] = bed.deletedImages;
  assert.match(first ?? "", /:worker-[0-9a-f]{32}$/, "the index goes before its images");
  assert.ok(bed.images.has(bed.pullSpec()));
});

Deno.test("P-168 an image that a node runs is not deleted", () => {
  const bed = built();
  const running = bed.pullSpec();
  bed.nodes = [rawBuildNode({ images: { currentImage: running } }), rawBuildNode({ reported: "arm64" })];
  publishEach(bed, "a", "b", "c");
  assert.ok(bed.images.has(running));
  bed.nodes = [rawBuildNode({}), rawBuildNode({ reported: "arm64" })];
  bed.settle();
  assert.ok(!bed.images.has(running), "it goes when no node runs it any more");
});

Deno.test("a build that failed leaves its images until another one is published", () => {
  const bed = halfFailed();
  const [built] = bed.images.keys();
  bed.edit({ files: [{ content: "FROM other\n" }] });
  bed.pass();
  bed.pass();
  assert.ok(bed.images.has(built ?? ""));
  bed.settle();
  assert.ok(!bed.images.has(built ?? ""));
  assert.equal([...bed.objects.keys()].filter((name) => name.startsWith("archs-")).length, 1, "one record is left");
});

Deno.test("an image that another pool's build has is not deleted", () => {
  const bed = built();
  const [child = ""] = bed.images.get(bed.pullSpec())?.children ?? [];
  bed.digestsElsewhere = [child];
  publishEach(bed, "a", "b", "c");
  assert.ok([...bed.images.keys()].some((reference) => reference.endsWith(child)));
});

Deno.test("P-163 a node that the published image does not cover is named in a condition until it is covered", () => {
  const bed = built();
  bed.addNode({ reported: "s390x" });
  bed.settle({ run: false });
  const condition = bed.condition(bed.config, "ArchitectureNotCovered");
  assert.equal(condition?.status, "True");
  assert.match(String(condition?.message), /node-s390x \(s390x\)/);
  bed.settle();
  assert.equal(bed.condition(bed.config, "ArchitectureNotCovered")?.status, "False");
});

Deno.test("P-016 the annotation of the pool is restored when someone changes it", () => {
  const bed = built();
  const annotations = { "archway.dev/architectures": "riscv64" };
  bed.pool = { ...bed.pool, metadata: { ...bed.pool.metadata, annotations } };
  bed.settle();
  assert.equal(bed.pool.metadata.annotations?.["archway.dev/architectures"], "amd64,arm64");
});

for (const type of ["NodeDegraded", "RenderDegraded", "PinnedImageSetsDegraded", "SynchronizerDegraded"]) {
  Deno.test(`P-080 a pool with ${type} gets no build; one that is paused does`, () => {
    const bed = new Simulator();
    bed.pool = rawPool({ conditions: [{ type, status: "True" }] });
    bed.settle();
    assert.deepEqual([bed.builds.size, bed.made], [0, []]);
    const { status, reason, message } = Object(bed.condition(bed.config, "BuildNotPossible"));
    assert.deepEqual([status, reason], ["True", "PoolDegraded"]);
    assert.match(message, new RegExp(` has condition ${type}: no build starts until it is gone\\.$`));
    bed.pool = rawPool({ paused: true });
    bed.settle();
    assert.equal(bed.made.length, 2);
    assert.equal(bed.condition(bed.config, "BuildNotPossible")?.status, "False");
  });
}

Deno.test("while the machine config operator's builder runs nothing is done but to report it", () => {
  const bed = new Simulator();
  bed.mcoBuilder = "running";
  bed.settle();
  assert.equal(bed.condition(bed.config, "AnotherBuilderActive")?.status, "True");
  assert.deepEqual([bed.builds.size, bed.writes, bed.detected], [0, 1, undefined]);
  bed.mcoBuilder = "stopped";
  bed.settle();
  assert.equal(bed.condition(bed.config, "AnotherBuilderActive")?.status, "False");
  assert.notEqual(bed.pullSpec(), "");
});

function impediment(bed: Simulator): readonly unknown[] {
  const { status, reason, message } = Object(bed.condition(bed.config, "BuildNotPossible"));
  return [status, reason, message, (bed.decide().wakeAtMs ?? NaN) - bed.nowMs];
}

Deno.test("O-084 a secret that cannot be used is said, and waited for", () => {
  const bed = new Simulator(["amd64"]);
  const rows = [
    ["usable", "absent", 'Secret "push" of renderedImagePushSecret does not exist.'],
    ["usable", "not for a registry", 'Secret "push" of renderedImagePushSecret is no registry secret.'],
    ["absent", "usable", 'Secret "global-pull-secret-copy" of baseImagePullSecret does not exist.'],
  ] as const;
  for (const [pull, push, message] of rows) {
    bed.secrets = { pull, push };
    bed.settle();
    assert.deepEqual([bed.builds.size, bed.made], [0, []]);
    const why = `${message} Builds wait until it can be used.`;
    assert.deepEqual(impediment(bed), ["True", "SecretUnusable", why, 30_000]);
  }
  bed.secrets = { pull: "usable", push: "usable" };
  bed.settle();
  assert.equal(bed.condition(bed.config, "BuildNotPossible")?.status, "False");
  assert.notEqual(bed.pullSpec(), "");
});

Deno.test("an image for building that nothing names is said, and waited for", () => {
  const bed = new Simulator(["amd64"]);
  const { settings } = bed;
  bed.settings = { ...settings, builderImage: "" };
  bed.settle();
  assert.deepEqual([bed.builds.size, bed.made], [0, []]);
  const [status, reason, message, waitMs] = impediment(bed);
  assert.deepEqual([status, reason, waitMs], ["True", "BuilderImageUnknown", 30_000]);
  assert.match(
    String(message),
    /^ConfigMap "[a-z-]+\/machine-config-operator-images" names no image that builds\. .* imageBuilds\.builderImage /,
  );
  assert.ok(bed.events.some(({ type, reason }) => type === "Warning" && reason === "ConfigReconcileFailed"));
  bed.settings = settings;
  bed.settle();
  assert.equal(bed.condition(bed.config, "BuildNotPossible")?.status, "False");
  assert.notEqual(bed.pullSpec(), "");
});

function upstream(): Simulator {
  const bed = new Simulator(["amd64"]);
  const name = ownName();
  const reference = `registry.test/org/os@sha256:${"d".repeat(64)}`;
  bed.images.set(reference, { architecture: "amd64", labels: {}, children: [] });
  bed.tags.set(`registry.test/org/os:${name}`, `sha256:${"d".repeat(64)}`);
  const status = { conditions: [{ type: "Succeeded", status: "True" }], digestedImagePushSpec: reference };
  bed.builds.set(name, rawBuild({ name, uid: "mco", status }));
  bed.annotate({ "machineconfiguration.openshift.io/current-machine-os-build": name });
  const recorded = { currentImagePullSpec: reference, observedGeneration: 1, machineOSBuild: { name } };
  bed.config = { ...bed.config, status: recorded };
  return bed;
}

Deno.test("what the machine config operator built for one architecture stays as it is, and so do its words", () => {
  const bed = upstream();
  const said = { type: "ImageBuildDegraded", status: "False", reason: "BuildSuccess", message: "its words" };
  const marks = { observedGeneration: 7, lastTransitionTime: "t" };
  const other = { type: "Other", status: "True", reason: "R", message: "", ...marks };
  bed.pool = rawPool({ conditions: [said] });
  bed.config = { ...bed.config, status: { ...Object(bed.config.status), conditions: [other] } };
  const before = bed.pullSpec();
  bed.settle();
  assert.deepEqual([bed.made, bed.published, bed.pullSpec(), bed.builds.size], [[], [], before, 1]);
  assert.ok([...bed.objects.keys()].some((name) => name.startsWith("archs-worker-")));
  assert.deepEqual(bed.condition(bed.pool, "ImageBuildDegraded"), said);
  bed.addNode({ reported: "riscv64" });
  bed.settle();
  assert.equal(bed.condition(bed.config, "ArchitectureNotCovered")?.status, "True");
  assert.deepEqual(bed.condition(bed.config, "Other"), other);
});

for (const [when, settles] of [["recorded", true], ["at once", false]] as const) {
  Deno.test(`a second architecture joins, ${when}: what the operator built is the first one's image, and is not built again`, () => {
    const bed = upstream();
    if (settles) bed.settle();
    bed.addNode({ reported: "arm64" });
    bed.settle();
    assert.deepEqual(bed.made, ["arm64"]);
    const { children } = bed.images.get(bed.pullSpec()) ?? assert.fail("no index");
    assert.ok(children.includes(`sha256:${"d".repeat(64)}`));
  });
}

Deno.test("a node that the operator's own image does not cover is named while it has no record", () => {
  const bed = upstream();
  bed.addNode({ reported: "arm64" });
  bed.settle({ run: false });
  assert.match(String(bed.condition(bed.config, "ArchitectureNotCovered")?.message), /node-arm64 \(arm64\)/);
  assert.deepEqual(bed.decide().view.uncovered, [{ node: "node-arm64", arch: "arm64" }]);
  bed.settle();
  assert.equal(bed.condition(bed.config, "ArchitectureNotCovered")?.status, "False");
});

Deno.test("O-055 P-184 a clock that goes back leaves the end of a build after its start", () => {
  for (const skewMinutes of [-60, 60]) {
    const bed = building();
    bed.nowMs += skewMinutes * MINUTE;
    bed.settle();
    const { buildStart, buildEnd } = Object(bed.build().status);
    assert.ok(Date.parse(buildEnd) > Date.parse(buildStart), `${skewMinutes} minutes`);
  }
});

Deno.test("P-164 (different: every node of a pool gets the index; there is no image for each node) an index that changes gives the pool another reference", () => {
  const bed = built();
  const before = bed.pullSpec();
  bed.edit({ files: [NO_ARCH, { containerfileArch: "ARM64", content: "FROM configs\n" }] });
  bed.settle();
  assert.notEqual(bed.pullSpec(), before);
});

const PRE_BUILT = "machineconfiguration.openshift.io/pre-built-image";
const BEFOREHAND = `registry.test/org/given@sha256:${"e".repeat(64)}`;

Deno.test("O-085..088 an image that was built beforehand stands for the first build: no Job, and the annotation goes", () => {
  const bed = new Simulator(["amd64"], { annotations: { [PRE_BUILT]: BEFOREHAND } });
  bed.images.set(BEFOREHAND, { architecture: "amd64", labels: {}, children: [] });
  bed.settle();
  assert.deepEqual([bed.made, bed.pullSpec()], [[], BEFOREHAND]);
  const build = bed.build();
  assert.equal(build.metadata.labels?.["machineconfiguration.openshift.io/pre-built-image"], "true");
  const succeeded = bed.condition(build, "Succeeded");
  assert.deepEqual([succeeded?.status, succeeded?.reason], ["True", "PreBuiltImageSeeded"]);
  assert.equal(bed.condition(bed.config, "Seeded")?.status, "True");
  assert.ok(!Object.hasOwn(bed.config.metadata.annotations ?? {}, PRE_BUILT));
  publishEach(bed, "other");
  assert.deepEqual([bed.made, bed.condition(bed.config, "Seeded")?.status], [["amd64"], "False"]);
});

Deno.test("O-086 O-090 an image that was built beforehand is left alone where the pool has a build", () => {
  const bed = built(["amd64"]);
  const before = bed.pullSpec();
  bed.annotate({ [PRE_BUILT]: BEFOREHAND });
  bed.settle();
  assert.deepEqual([bed.made, bed.pullSpec(), bed.config.metadata.annotations?.[PRE_BUILT]], [[], before, BEFOREHAND]);
});

Deno.test("O-089 an image that was built beforehand waits for the push secret", () => {
  const bed = new Simulator(["amd64"], { annotations: { [PRE_BUILT]: BEFOREHAND } });
  bed.secrets = { pull: "usable", push: "absent" };
  bed.settle();
  assert.deepEqual([bed.builds.size, bed.pullSpec()], [0, ""]);
});

Deno.test("O-112 O-132 the pool's condition follows a failure, its mend and the end", () => {
  const bed = building();
  const seen: unknown[] = [];
  const look = (): void => {
    const { status, reason } = Object(bed.condition(bed.pool, "ImageBuildDegraded"));
    seen.push(`${status} ${reason}`);
  };
  for (const job of bed.jobs.values()) bed.failJob(job);
  bed.settle({ run: false });
  look();
  bed.edit({ files: [{ content: "FROM mended\n" }] });
  bed.settle({ run: false });
  look();
  bed.settle();
  look();
  assert.deepEqual(seen, ["True BuildFailed", "False Building", "False BuildSuccess"]);
});

Deno.test("O-072 a configuration that changes during a build replaces it", () => {
  const bed = building();
  const old = bed.build().metadata.name;
  bed.configure({ kernelArguments: ["nosmt"] });
  bed.settle();
  assert.ok(!bed.builds.has(old));
  assert.deepEqual([bed.made.length, bed.jobs.size], [4, 0]);
});

Deno.test("O-076 O-149 each change has its build, and the first text is found again", () => {
  const bed = built();
  bed.settings = { ...bed.settings, retainImages: 9 };
  publishEach(bed, "a", "b");
  assert.equal(bed.builds.size, 3);
  bed.reset();
  bed.edit({});
  bed.settle();
  assert.deepEqual([bed.made, bed.builds.size], [[], 3]);
});

Deno.test("P-165 an architecture that joins changes the index once", () => {
  const bed = built();
  const before = bed.pullSpec();
  bed.addNode({ reported: "s390x" });
  bed.settle();
  assert.deepEqual([bed.made, bed.published.length], [["s390x"], 1]);
  assert.notEqual(bed.pullSpec(), before);
  assert.equal(bed.images.get(bed.pullSpec())?.children.length, 3);
});

Deno.test("P-166 an architecture that machine sets will make is covered before it joins: joining builds nothing", () => {
  const bed = new Simulator(["amd64"]);
  bed.addNode({ name: "build-arm64", reported: "arm64", roles: ["builder"] });
  bed.machineSets = [{ nodeLabels: { "node-role.kubernetes.io/worker": "" }, arch: "arm64" }];
  bed.settle();
  assert.deepEqual(bed.made, ["amd64", "arm64"]);
  bed.reset();
  const before = bed.pullSpec();
  bed.addNode({ reported: "arm64" });
  bed.settle();
  assert.deepEqual([bed.made, bed.pullSpec()], [[], before]);
});

Deno.test("P-173 a payload that becomes multi-architecture builds again for the nodes that are there", () => {
  const bed = built(["amd64"]);
  bed.configure({ osImageURL: "registry.test/base/multi:1" });
  bed.settle();
  assert.deepEqual(bed.made, ["amd64"]);
  assert.equal(bed.pool.metadata.annotations?.["archway.dev/architectures"], "amd64");
});
