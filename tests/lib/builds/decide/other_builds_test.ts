import assert from "node:assert/strict";
import { rawBuild } from "./make.ts";
import { built, Simulator } from "./simulator.ts";

function removeImages(bed: Simulator, reference: string): void {
  const [repository = "", digest = ""] = reference.split("@");
  const digests = [digest, ...(bed.images.get(reference) ?? assert.fail("no image")).children];
  for (const one of digests) bed.images.delete(`${repository}@${one}`);
  for (const [tag, named] of bed.tags) if (digests.includes(named)) bed.tags.delete(tag);
}

Deno.test("O-145 images deleted from the registry are built again when their configuration comes back; those of the other one are not", () => {
  const bed = built();
  const first = bed.pullSpec();
  bed.configure({ kernelArguments: ["nosmt"] }, "rendered-worker-2");
  bed.settle();
  const second = bed.pullSpec();
  assert.notEqual(second, first);
  removeImages(bed, first);
  bed.reset();
  bed.configure({ kernelArguments: [] }, "rendered-worker-1");
  bed.settle();
  assert.deepEqual([bed.made, bed.builds.size], [["amd64", "arm64"], 2]);
  assert.ok(bed.pullSpec() !== second && bed.images.has(bed.pullSpec()));
  bed.reset();
  bed.configure({ kernelArguments: ["nosmt"] }, "rendered-worker-2");
  bed.settle();
  assert.deepEqual([bed.made, bed.builds.size, bed.pullSpec()], [[], 2, second]);
});

Deno.test("O-073 a third build that starts while the second runs takes its place with all its objects, and leaves the first alone", () => {
  const bed = built();
  const first = bed.build();
  bed.edit({ files: [{ content: "FROM a\n" }] });
  bed.settle({ run: false });
  const { name: second, uid } = bed.build().metadata;
  assert.deepEqual([bed.builds.size, bed.jobs.size], [2, 2]);
  bed.edit({ files: [{ content: "FROM b\n" }] });
  bed.settle({ run: false });
  const left = [...bed.jobs.values(), ...bed.objects.values()].filter(({ metadata: { name, ownerReferences = [] } }) =>
    name !== `archs-${second}` && name.includes(second) || ownerReferences.some((owner) => owner.uid === uid)
  );
  assert.deepEqual([bed.builds.has(second), left], [false, []]);
  assert.deepEqual([bed.builds.size, bed.jobs.size, bed.builds.get(first.metadata.name)], [2, 2, first]);
  bed.settle();
  assert.deepEqual([bed.made.length, bed.builds.size, bed.jobs.size], [4, 2, 0]);
  // Its record stayed for as long as its images could be there.
  const others = [...bed.objects.keys()].filter((name) => name.includes(second) || !/^(?:archs|digest)-/.test(name));
  assert.deepEqual([others, bed.builds.get(first.metadata.name)], [[], first]);
});

for (
  const [what, conditions] of [
    ["has not started", []],
    ["runs", [{ type: "Building", status: "True" }]],
    ["failed as well", [{ type: "Failed", status: "True" }]],
  ] as const
) {
  Deno.test(`O-078 a failed build beside one of an older configuration that ${what} starts no other one, however often it is looked at`, () => {
    const bed = new Simulator();
    bed.settle({ run: false });
    for (const job of bed.jobs.values()) bed.failJob(job);
    bed.settle({ run: false });
    const build = bed.build();
    assert.equal(bed.condition(build, "Failed")?.status, "True");
    const older = rawBuild({ name: "worker-older", rendered: "rendered-worker-0", status: { conditions } });
    bed.builds.set("worker-older", older);
    bed.reset();
    bed.settle({ run: false });
    assert.deepEqual([bed.made, [...bed.builds.values()]], [[], [build]]);
    bed.reset();
    for (let passes = 0; passes < 3; passes++) bed.pass();
    assert.deepEqual([bed.made, bed.writes, bed.builds.size], [[], 0, 1]);
  });
}
