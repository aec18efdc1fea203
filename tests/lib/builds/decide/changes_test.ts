import assert from "node:assert/strict";
import { built, envOf, Simulator } from "./simulator.ts";
import { NO_ARCH, type RawConfig, SETTINGS } from "./make.ts";

const ARM64 = { containerfileArch: "ARM64", content: "FROM configs AS final\nRUN echo arm\n" };
const S390X = { containerfileArch: "S390X", content: "FROM configs\n" };
const OTHER = { ...NO_ARCH, content: "FROM configs AS final\nRUN echo other\n" };
const SHORT = { ...ARM64, content: "FROM configs AS final\n" };
const EQUAL = { ...ARM64, content: NO_ARCH.content };
const OTHER_BASE = `registry.test/base/os@sha256:${"c".repeat(64)}`;
const AMD64 = { containerfileArch: "AMD64", content: "FROM configs AS final\nRUN echo amd\n" };

Deno.test("P-161 a new pool of two architectures gets one Job each and one index, which the pool is given", () => {
  const bed = new Simulator();
  bed.settle();
  assert.deepEqual(bed.made.toSorted(), ["amd64", "arm64"]);
  assert.equal(bed.published.length, 1);
  const { observedGeneration, machineOSBuild } = Object(bed.config.status);
  assert.deepEqual([observedGeneration, machineOSBuild.name], [1, bed.build().metadata.name]);
  assert.match(bed.pullSpec(), /^registry\.test\/org\/os@sha256:/);
});

type Row = readonly [
  change: string,
  jobs: readonly string[],
  index: "same" | "new" | "pushed again",
  make: (bed: Simulator) => void,
  given?: RawConfig,
  /** Rows of the catalogue besides P-080. */
  ids?: string,
];

const BOTH = ["amd64", "arm64"];
const ROWS: readonly Row[] = [
  ["the order of containerfiles", [], "same", (bed) => bed.edit({ files: [ARM64, NO_ARCH] }), {
    files: [NO_ARCH, ARM64],
  }],
  ["the text that both use", BOTH, "new", (bed) => bed.edit({ files: [OTHER] })],
  ["the text of arm64", ["arm64"], "new", (bed) => bed.edit({ files: [NO_ARCH, SHORT] }), { files: [NO_ARCH, ARM64] }],
  ["a text for arm64 that says what was used before", [], "same", (bed) => bed.edit({ files: [NO_ARCH, EQUAL] })],
  ["a file of the configuration", [], "same", (bed) => bed.configure({}), {}, "O-081 "],
  ["kernel arguments", BOTH, "new", (bed) => bed.configure({ kernelArguments: ["nosmt"] })],
  ["the kernel", BOTH, "new", (bed) => bed.configure({ kernelType: "realtime" })],
  ["extensions", BOTH, "new", (bed) => bed.configure({ extensions: ["usbguard"] })],
  ["the base image", BOTH, "new", (bed) => bed.configure({ osImageURL: OTHER_BASE })],
  ["names of secrets", [], "same", (bed) => bed.edit({ pushSecret: "other-push", pullSecret: "other-pull" })],
  ["the repository", [], "pushed again", (bed) => bed.edit({ pushSpec: "registry.test/org/moved:latest" })],
  ["the tag of the push spec", [], "same", (bed) => bed.edit({ pushSpec: "registry.test/org/os:other" })],
  ["the last node of arm64 leaves", [], "same", (bed) => (bed.nodes = bed.nodes.slice(0, 1))],
  ["the image of arm64 is deleted from the registry", ["arm64"], "new", (bed) => {
    const [arm] = [...bed.images].filter(([, image]) => image.architecture === "arm64");
    bed.images.delete(arm?.[0] ?? "");
  }],
  ["the rebuild annotation `all`", BOTH, "new", (bed) => bed.rebuild("all")],
  ["an empty rebuild annotation after success", BOTH, "new", (bed) => bed.rebuild()],
  ["the rebuild annotation `arm64`", ["arm64"], "new", (bed) => bed.rebuild("arm64")],
  ["a text for an architecture that no node has", [], "same", (bed) => bed.edit({ files: [NO_ARCH, S390X] })],
  ["a text for amd64 beside one for all", ["amd64"], "new", (bed) => bed.edit({ files: [NO_ARCH, AMD64] })],
];

function tryRow(bed: Simulator, [change, jobs, index, make]: Row): void {
  const before = bed.pullSpec();
  make(bed);
  bed.settle();
  assert.deepEqual(bed.made.toSorted(), jobs, change);
  // A build of another name has the index under its own tag as well, as the same bytes.
  const isRenamed = bed.builds.size > 1;
  assert.equal(bed.published.length, index === "same" && !isRenamed ? 0 : 1, `${change}: ${bed.published.join()}`);
  assert.equal(bed.pullSpec() === before, index === "same", change);
  // Nothing is left to do, and nothing is done twice.
  bed.reset();
  bed.settle();
  assert.equal(bed.writes, 0, change);
}

for (const row of ROWS) {
  const [change, jobs, index, , given, ids = ""] = row;
  Deno.test(`${ids}P-080 decideBuild() after ${change}: Jobs [${jobs.join(", ")}], index ${index}`, () => {
    tryRow(built(undefined, given), row);
  });
}

const STAGING = "stage.test/org/parts";
const STAGED = { ...SETTINGS, stagingRepository: STAGING };

function stagedTags({ tags }: Simulator): readonly string[] {
  return [...tags.keys()].filter((tag) => tag.startsWith(STAGING));
}

Deno.test("with a staging repository Jobs push there, and the index has its images and their tags beside it", () => {
  const bed = new Simulator(undefined, {}, STAGED);
  bed.settle({ run: false });
  const pushed = [...bed.jobs.values()].map((job) => envOf(job).get("TAG") ?? "");
  assert.ok(pushed.length === 2 && pushed.every((tag) => tag.startsWith(`${STAGING}:worker-`)), pushed.join());
  bed.settle();
  assert.match(bed.pullSpec(), /^registry\.test\/org\/os@sha256:/);
  const beside = pushed.map((tag) => bed.tags.get(tag.replace(STAGING, "registry.test/org/os")));
  assert.deepEqual(beside.toSorted(), bed.images.get(bed.pullSpec())?.children.toSorted());
  assert.deepEqual([stagedTags(bed), bed.deletedImages.toSorted()], [[], pushed.toSorted()]);
});

Deno.test("with a staging repository each change has the same Jobs and publications, and leaves nothing there", () => {
  for (const row of ROWS) {
    const bed = built(undefined, row[4], STAGED);
    tryRow(bed, row);
    assert.deepEqual(stagedTags(bed), [], row[0]);
  }
});

Deno.test("a staged image waits for the others, is not built again, and goes with a build that is never published", () => {
  const bed = new Simulator(undefined, {}, STAGED);
  bed.settle({ run: false });
  bed.completeJob(bed.jobOf("amd64"));
  bed.failJob(bed.jobOf("arm64"));
  bed.settle({ run: false });
  assert.equal(stagedTags(bed).length, 1);
  bed.reset();
  bed.rebuild();
  bed.settle({ run: false });
  assert.deepEqual([bed.made, stagedTags(bed).length], [["arm64"], 1]);
  bed.edit({ files: [OTHER] });
  bed.settle({ run: false });
  bed.settle();
  assert.deepEqual([stagedTags(bed), bed.images.get(bed.pullSpec())?.children.length], [[], 2]);
});

Deno.test("one architecture alone is not staged", () => {
  const bed = new Simulator(["amd64"], {}, STAGED);
  bed.settle({ run: false });
  assert.match(envOf(bed.jobOf("amd64")).get("TAG") ?? "", /^registry\.test\/org\/os:/);
});

Deno.test("while Jobs run, the copies of secrets that change are made again, once; afterwards they are left alone", () => {
  const bed = new Simulator();
  bed.settle({ run: false });
  bed.reset();
  const versions = (): readonly unknown[] =>
    ["base-", "final-"].map((start) =>
      [...bed.objects.values()].find(({ kind, metadata: { name } }) => kind === "Secret" && name.startsWith(start))
        ?.metadata.labels?.["archway.dev/secret-version"]
    );
  assert.deepEqual(versions(), ["1", "1"]);
  bed.secretVersions = { pull: "1", push: "2" };
  bed.setJob(bed.jobOf("arm64"), { active: 1, failed: 1 });
  const refreshed = bed.decide().effects.flatMap((effect) =>
    effect.kind === "refresh secret" ? [effect.copy.from] : []
  );
  assert.deepEqual(refreshed, ["push"]);
  bed.settle({ run: false });
  assert.deepEqual([versions(), bed.made], [["1", "2"], []]);
  for (const arch of ["amd64", "arm64"]) bed.completeJob(bed.jobOf(arch));
  bed.secretVersions = { pull: "2", push: "3" };
  assert.ok(bed.decide().effects.every(({ kind }) => kind !== "refresh secret"));
  bed.settle();
  assert.equal(bed.published.length, 1);
});
