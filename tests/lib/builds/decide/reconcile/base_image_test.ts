import assert from "node:assert/strict";
import { textAt, textMapAt } from "../../../../../lib/json.ts";
import { digestOf } from "../../../../support/documents.ts";
import { rawBuildNode, rawRendered } from "../make.ts";
import { archOf, envOf, Simulator } from "../simulator.ts";

const TAG = "registry.test/base/os:v1";
const pinned = (name: string): string => `registry.test/base/os@${digestOf(name)}`;

function bedOf(archs: readonly string[]): Simulator {
  const bed = new Simulator(archs);
  bed.rendered = rawRendered({ osImageURL: TAG });
  return bed;
}

function bases(bed: Simulator): readonly string[] {
  return [...bed.jobs.values()].map((job) => {
    const base = envOf(job).get("BASE_OS_IMAGE_PULLSPEC") ?? "";
    const texts = [...bed.objects.values()].filter(({ metadata: { name } }) => name.startsWith("containerfile-"))
      .map((map) => textMapAt(map, "data")?.["Containerfile"] ?? "");
    assert.ok(texts.length > 0);
    for (const text of texts) assert.ok(text.includes(`FROM ${base} AS extract`) && !text.includes(TAG), text);
    return `${archOf(job)} ${base}`;
  });
}

function cordon(bed: Simulator, unschedulable: boolean): void {
  const [amd64 = rawBuildNode()] = bed.nodes;
  bed.nodes = [amd64, rawBuildNode({ reported: "arm64", unschedulable })];
}

Deno.test("an architecture that waited for a node has the base of the others, although its tag moved meanwhile", () => {
  const bed = bedOf(["amd64", "arm64"]);
  cordon(bed, true);
  bed.settle({ run: false });
  bed.baseDigest = digestOf("moved");
  cordon(bed, false);
  bed.settle({ run: false });
  assert.deepEqual(bases(bed), [`amd64 ${pinned("base")}`, `arm64 ${pinned("base")}`]);
  bed.settle();
  assert.equal(bed.published.length, 1);
});

Deno.test("the base is recorded before any Job is made, so that a restart in between changes nothing", () => {
  for (let stopAfter = 1; stopAfter < 10; stopAfter++) {
    const bed = bedOf(["amd64", "arm64"]);
    for (let passes = 0; bed.jobs.size === 0; passes++) {
      assert.ok(passes < 20);
      bed.pass(stopAfter);
    }
    bed.baseDigest = digestOf("moved");
    bed.settle({ run: false });
    assert.deepEqual(bases(bed), [`amd64 ${pinned("base")}`, `arm64 ${pinned("base")}`]);
  }
});

Deno.test("an architecture that joins has the base of the image that is reused; all built again have a new one", () => {
  const bed = bedOf(["amd64"]);
  bed.settle();
  bed.baseDigest = digestOf("moved");
  bed.addNode({ reported: "arm64" });
  bed.settle({ run: false });
  assert.deepEqual(bases(bed), [`arm64 ${pinned("base")}`]);
  bed.settle();
  bed.rebuild("all");
  bed.settle({ run: false });
  assert.deepEqual(bases(bed), [`amd64 ${pinned("moved")}`, `arm64 ${pinned("moved")}`]);
});

Deno.test("where the registry does not say what a tag names, Jobs get the tag", () => {
  const bed = bedOf(["amd64"]);
  bed.overrides.set("platforms ", { kind: "denied", message: "no" });
  bed.settle({ run: false });
  assert.deepEqual([...bed.jobs.values()].map((job) => envOf(job).get("BASE_OS_IMAGE_PULLSPEC")), [TAG]);
  assert.equal(textAt(bed.rendered.spec, "osImageURL"), TAG);
});
