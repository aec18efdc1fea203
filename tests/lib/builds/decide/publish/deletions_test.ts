import assert from "node:assert/strict";
import { type MachineOSBuild, parseMachineOSBuild } from "../../../../../lib/builds/decide/parse/machine_os_config.ts";
import {
  type DeletionInput,
  forgottenRecords,
  type ForgottenRecordsInput,
  imageDeletions,
  surplusBuilds,
} from "../../../../../lib/builds/decide/publish/deletions.ts";
import { uncoveredMessage, uncoveredNodes } from "../../../../../lib/builds/decide/detect/detect.ts";
import type { ArchitectureBuild } from "../../../../../lib/builds/decide/types.ts";
import type { StoredRecord } from "../../../../../lib/builds/decide/facts.ts";
import { configOf, nodeOf, poolObject, rawBuild } from "../make.ts";

const REPOSITORY = "registry.test/org/os";

function digest(name: string): string {
  return `sha256:${name.padEnd(64, "0")}`;
}

function build(name: string, age: number): MachineOSBuild {
  const reference = `${REPOSITORY}@${digest(`index-${name}`)}`;
  const status = { conditions: [{ type: "Succeeded", status: "True" }], digestedImagePushSpec: reference };
  const metadata = { creationTimestamp: new Date(1e12 - age * 1_000).toISOString() };
  return parseMachineOSBuild(rawBuild({ name, repository: REPOSITORY, metadata, status }));
}

/** Its record: `children` are names of images by architecture. */
function record(name: string, children: readonly string[]): StoredRecord {
  const archs = children.map((child, at): ArchitectureBuild => ({
    arch: at === 0 ? "amd64" : "arm64",
    buildKey: child.padEnd(64, "0"),
    state: "Succeeded",
    attempts: 1,
    digest: digest(child),
  }));
  const reference = `${REPOSITORY}@${digest(`index-${name}`)}`;
  const index = { kind: "published", reference, tag: name, children: children.map(digest) } as const;
  return {
    name: `archs-${name}`,
    resourceVersion: "1",
    build: name,
    buildUid: `uid-${name}`,
    pushSpec: `${REPOSITORY}:${name}`,
    pushSecret: "push",
    record: { archs, index },
  };
}

function input(given: Partial<DeletionInput> = {}): DeletionInput {
  const builds = [build("old", 30), build("mid", 20), build("new", 10)];
  const records = [record("old", ["a1", "b1"]), record("mid", ["a1", "b2"]), record("new", ["a2", "b3"])];
  return { config: configOf(), builds, records, nodes: [], digestsElsewhere: [], retain: 2, current: "new", ...given };
}

const references = (given: DeletionInput, name: string): readonly string[] => {
  const leaving = given.builds.find(({ meta }) => meta.name === name) ?? assert.fail(name);
  return imageDeletions(leaving, given).map(({ digest }) => digest.slice(7).replace(/0+$/, ""));
};

Deno.test("P-170 surplusBuilds() is the oldest beyond those that are kept", () => {
  const names = (given: Partial<DeletionInput>): readonly string[] =>
    surplusBuilds(input(given)).map(({ meta }) => meta.name);
  assert.deepEqual(names({}), ["old"]);
  assert.deepEqual(names({ retain: 1 }), ["old", "mid"]);
  assert.deepEqual(names({ retain: 3 }), []);
  // The one in use stays, however old it is, and however few are kept.
  assert.deepEqual(names({ current: "old" }), ["mid"]);
  assert.deepEqual(names({ current: "old", retain: 0 }), ["mid", "new"]);
});

Deno.test("surplusBuilds() leaves builds alone that this project has no record of", () => {
  assert.deepEqual(surplusBuilds(input({ records: input().records.slice(1) })).map(({ meta }) => meta.name), []);
});

Deno.test("P-167 imageDeletions() keeps an image that another build has, and names the index first", () => {
  assert.deepEqual(references(input(), "old"), ["index-old", "b1"]);
});

Deno.test("P-168 imageDeletions() keeps an image that a node runs, as an index with all that is in it, or by itself", () => {
  const running = (currentImage: string): DeletionInput => input({ nodes: [nodeOf({ images: { currentImage } })] });
  assert.deepEqual(references(running(`${REPOSITORY}@${digest("index-old")}`), "old"), []);
  assert.deepEqual(references(running(`${REPOSITORY}@${digest("b1")}`), "old"), ["index-old"]);
});

Deno.test("imageDeletions() keeps what is published, whatever its build is called", () => {
  const config = configOf();
  const pullSpec = `${REPOSITORY}@${digest("index-old")}`;
  const given = input({ config: { ...config, status: { ...config.status, pullSpec } } });
  assert.deepEqual(references(given, "old"), []);
});

Deno.test("P-169 imageDeletions() names tags with the digests that they had, so that a moved one is left", () => {
  const [leaving = assert.fail("no build")] = input().builds;
  const deletions = imageDeletions(leaving, input());
  assert.deepEqual(deletions.map(({ reference }) => reference), [
    `${REPOSITORY}:old`,
    `${REPOSITORY}:worker-${"b1".padEnd(32, "0")}-arm64`,
  ]);
  assert.ok(deletions.every((one) => /^sha256:.{64}$/.test(one.digest)));
});

Deno.test("P-172 forgottenRecords() lets the images of a deleted configuration go, but for those that nodes or other pools have", () => {
  const { records } = input();
  const images = (given: Partial<ForgottenRecordsInput>): readonly string[] =>
    forgottenRecords({ config: "worker", records, nodes: [], digestsElsewhere: [], ...given }).flatMap((
      { deletions },
    ) => deletions.map(({ digest }) => digest.slice(7).replace(/0+$/, "")));
  const old = ["index-old", "a1", "b1"];
  const mid = ["index-mid", "a1", "b2"];
  const recent = ["index-new", "a2", "b3"];
  assert.deepEqual(images({}), [...old, ...mid, ...recent]);
  const nodes = [nodeOf({ images: { currentImage: `${REPOSITORY}@${digest("index-mid")}` } })];
  assert.deepEqual(images({ nodes }), [...old.filter((one) => one !== "a1"), ...recent]);
  assert.equal(
    forgottenRecords({ config: "worker", records, nodes, digestsElsewhere: [] }).length,
    2,
    "that record stays",
  );
  assert.deepEqual(images({ digestsElsewhere: [digest("b3")] }), [...old, ...mid, ...recent.slice(0, 2)]);
});

const POOLS = [poolObject(), poolObject({ name: "master" })];

Deno.test("P-163 uncoveredNodes() names nodes of the pool whose architecture is not in what is published", () => {
  const nodes = [
    nodeOf({ name: "a" }),
    nodeOf({ name: "z", reported: "arm64" }),
    nodeOf({ name: "c", reported: "riscv64" }),
    nodeOf({ name: "m", reported: "arm64", roles: ["master"] }),
    nodeOf({ name: "n", reported: "" }),
  ];
  const found = uncoveredNodes({ pool: "worker", pools: POOLS, nodes, covered: ["amd64"] });
  assert.deepEqual(found, [{ node: "c", arch: "riscv64" }, { node: "z", arch: "arm64" }]);
  assert.match(uncoveredMessage(found), /c \(riscv64\), z \(arm64\)\./);
});

Deno.test("uncoveredMessage() stays short however many there are", () => {
  const many = Array.from({ length: 500 }, (_, at) => ({ node: `node-${at}`, arch: "arm64" }));
  assert.match(uncoveredMessage(many), / and 490 more\./);
});
