import assert from "node:assert/strict";
import { parseJunit } from "../conformance/junit.ts";
import { mergeJunit, planLanes } from "../node/support/lanes.ts";

Deno.test("planLanes() puts what is held to times into one lane, all else into the other one; what is named is one lane", async () => {
  const lanes = await planLanes(["--quiet", "--ignore=tests/node/walk_test.ts,tests/node/life_test.ts", "tests/node"]);
  assert.equal(lanes.length, 2);
  const [first = [], second = []] = lanes.map((lane) => lane.filter((word) => /^tests\/.*_test\.ts$/.test(word)));
  for (const name of ["enoexec", "image_builds", "install"]) {
    assert.ok(first.includes(`tests/node/${name}_test.ts`), name);
  }
  for (const name of ["placement", "upgrades"]) assert.ok(second.includes(`tests/node/${name}_test.ts`), name);
  const there = [...Deno.readDirSync("tests/node")].map(({ name }) => `tests/node/${name}`);
  const wanted = there.filter((file) => file.endsWith("_test.ts") && !/\/(?:walk|life)_test\.ts$/.test(file));
  assert.deepEqual([...first, ...second].toSorted(), wanted.toSorted());
  const named = ["tests/node/walk_test.ts", "tests/node/life_test.ts"];
  assert.deepEqual(await planLanes(named), [named]);
});

function junitOf(file: string, outcome: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="1" failures="0" errors="0" time="1.000">
    <testsuite name="./tests/node/${file}" tests="1" disabled="0" errors="0" failures="0">
        <testcase name="of ${file}" classname="./tests/node/${file}" time="1.000" line="1" col="6">${outcome}
        </testcase>
    </testsuite>
</testsuites>
`;
}

Deno.test("mergeJunit() keeps the tests of every lane; a lane that wrote nothing adds none", () => {
  const merged = mergeJunit([junitOf("a_test.ts", ""), "", junitOf("b_test.ts", "<failure/>")]);
  assert.deepEqual(parseJunit(merged).map(({ name, file, outcome }) => [name, file, outcome]), [
    ["of a_test.ts", "tests/node/a_test.ts", "passed"],
    ["of b_test.ts", "tests/node/b_test.ts", "failed"],
  ]);
  assert.equal(merged.match(/<testsuites\b/g)?.length, 1);
});
