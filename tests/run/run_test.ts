import assert from "node:assert/strict";
import { parseJunit, type RanTest } from "../conformance/junit.ts";
import { listFiles } from "../conformance/sources.ts";
import { filesToRunAgain, replaceFiles } from "./again.ts";
import { filesAlone, groupFiles, listTestFiles, writeIsolates } from "./isolates.ts";
import { arrange, clusterParts, LONGEST, narrow, type Part, PARTS } from "./parts.ts";
import { ALLOWED_SKIPS, countFailed, judgeSkip } from "./skips.ts";

const PART: Part = {
  ...{ name: "unit", paths: ["tests"], ignored: ["tests/cluster"], permissions: "all" },
  ...{ jobs: 2, isolates: 4, planes: 0, niceness: 0, form: "short" },
};
const CLUSTER = listFiles("tests/cluster").filter((file) => /^tests\/cluster\/[^/]+_test\.ts$/.test(file));
const ALLOWED = [{ tests: ["kv: "], need: "denokv", reason: "no cargo" }] as const;

function pathsOf(part: Part, chosen: readonly string[]): readonly string[] | undefined {
  return narrow(part, chosen)?.paths;
}

Deno.test("narrow() leaves a part as it is when nothing is chosen, and drops it when nothing of it is", () => {
  assert.equal(narrow(PART, []), PART);
  assert.deepEqual(pathsOf(PART, ["tests/lib/a_test.ts"]), ["tests/lib/a_test.ts"]);
  assert.equal(pathsOf(PART, ["tests/cluster/a_test.ts"]), undefined);
  assert.deepEqual(pathsOf({ ...PART, paths: ["tests/lib/placement/decide"] }, ["tests/lib"]), [
    "tests/lib/placement/decide",
  ]);
});

Deno.test("every test file belongs to exactly one part", () => {
  const parts = [...PARTS.unit, PARTS.tools, ...clusterParts(CLUSTER), ...PARTS.long, PARTS.node, PARTS.nodeLong];
  const files = listFiles("tests").filter((file) => /_test\.tsx?$/.test(file));
  const odd = files.filter((file) => parts.filter((part) => pathsOf(part, [file]) !== undefined).length !== 1);
  assert.deepEqual(odd, []);
});

Deno.test("every file with a long form runs in its short one as well", () => {
  const sized = listFiles("tests").filter((file) =>
    file.endsWith("_test.ts") && Deno.readTextFileSync(file).includes("/support/form.ts")
  );
  const expected = sized.filter((file) => file !== "tests/run/run_test.ts");
  assert.deepEqual(PARTS.large.paths.toSorted(), expected.toSorted());
  const short = clusterParts(CLUSTER).flatMap(({ paths }) => paths);
  assert.deepEqual(PARTS.large.paths.filter((path) => !short.includes(path)), []);
});

Deno.test("every unit test file is loaded in exactly one isolate, and the one that checks loading in its own", async () => {
  for (const part of PARTS.unit) {
    const files = listTestFiles(part);
    const wanted = listFiles("tests").filter((file) =>
      /_test\.tsx?$/.test(file) && pathsOf(part, [file]) !== undefined
    );
    assert.deepEqual(files.toSorted(), wanted.toSorted());
    await using isolates = await writeIsolates(part);
    const written = isolates.paths.filter((path) => path.startsWith("/"));
    const loaded = written.flatMap((path) =>
      [...Deno.readTextFileSync(path).matchAll(/^import "file:\/\/([^"]+)";$/gm)].map(([, file = ""]) =>
        file.slice(Deno.cwd().length + 1)
      )
    );
    assert.equal(written.length, part.isolates);
    assert.deepEqual([...loaded, ...filesAlone(files)].toSorted(), files.toSorted());
  }
  assert.deepEqual(filesAlone(listTestFiles(PARTS.unit[1] ?? PART)), ["tests/architecture_test.ts"]);
  assert.deepEqual(groupFiles(["a", "c", "b"], 2), [["a", "c"], ["b"]]);
  assert.deepEqual(groupFiles(["a"], 4), [["a"]]);
});

Deno.test("clusterParts() begins with the longest of the files that wait side by side", () => {
  const names = ["a", "image_builds_many", "taints", "walk", "leader_rights"];
  const files = names.map((name) => `tests/cluster/${name}_test.ts`);
  const paths = clusterParts(files).map((part) => part.paths);
  assert.deepEqual(paths, [[files[3]], [files[4]], [files[1], files[2], files[0]]]);
});

Deno.test("the files that begin first are there", () => {
  assert.deepEqual(LONGEST.filter((file) => !CLUSTER.includes(file)), []);
});

Deno.test("arrange() puts every part into one lane, and leaves no lane or stage empty", () => {
  const parts = [
    ...[...PARTS.unit, PARTS.tools, ...clusterParts(["tests/cluster/a_test.ts"]), PARTS.node],
    ...[...PARTS.long, PARTS.large, PARTS.nodeLong],
  ];
  assert.deepEqual(arrange(parts).flat(2).map(({ name }) => name).toSorted(), parts.map(({ name }) => name).toSorted());
  assert.deepEqual(arrange([PARTS.node]), [[[PARTS.node]]]);
  assert.deepEqual(arrange(PARTS.long), [[PARTS.long]]);
  assert.deepEqual(arrange([]), []);
});

Deno.test("judgeSkip() allows what is listed while the machine lacks it, and nothing else", () => {
  const judge = (test: string, isLacking: boolean): string =>
    judgeSkip(test, { allowed: ALLOWED, lacks: (need) => need === "denokv" && isLacking }).kind;
  assert.equal(judge("kv: shares", true), "allowed");
  assert.equal(judge("kv: shares", false), "forbidden");
  assert.equal(judge("other", true), "forbidden");
});

Deno.test("no skip is allowed for want of what .ci/run installs", () => {
  const beyond = ["address", "denokv", "history", "nodeHost", "root", "traceableKernel"];
  assert.deepEqual(ALLOWED_SKIPS.map(({ need }) => need).filter((need) => !beyond.includes(need)), []);
});

Deno.test("a strict run fails when a part is left out or a skip is not allowed, one of named files when one is left out, any run when a test fails", () => {
  const complete = { failed: 0, forbidden: 0, left: 0 };
  const [strict, lax] = [{ isStrict: true, chosen: [] }, { isStrict: false, chosen: [] }];
  const failures = (counts: Partial<typeof complete>): readonly number[] =>
    [strict, lax, { ...lax, chosen: ["tests/cluster"] }].map((run) => countFailed({ ...complete, ...counts }, run));
  assert.deepEqual(failures({}), [0, 0, 0]);
  assert.deepEqual(failures({ left: 3 }), [3, 0, 3]);
  assert.deepEqual(failures({ forbidden: 1 }), [1, 0, 0]);
  assert.deepEqual(failures({ failed: 2 }), [2, 2, 2]);
});

Deno.test("parseJunit() gives tests and steps with their file and outcome", () => {
  const xml = `<testsuites><testsuite name="./tests/a_test.ts" tests="2"><testcase name="outer &gt; a step" time="1">` +
    `<skipped/></testcase><testcase name="outer" time="1"/></testsuite>` +
    `<testsuite name="./tests/b_test.ts"><testcase name="b"><failure/></testcase></testsuite>` +
    `<testsuite name="./tests/support/walk.ts"><testcase name="b &gt; c &gt; d"/></testsuite></testsuites>`;
  assert.deepEqual(parseJunit(xml), [
    { name: "a step", file: "tests/a_test.ts", isStep: true, outcome: "ignored" },
    { name: "outer", file: "tests/a_test.ts", isStep: false, outcome: "passed" },
    { name: "b", file: "tests/b_test.ts", isStep: false, outcome: "failed" },
    { name: "d", file: "tests/b_test.ts", isStep: true, outcome: "passed" },
  ]);
});

function ran(file: string, outcome: RanTest["outcome"], name = "a test"): RanTest {
  return { name, file, isStep: false, outcome };
}

Deno.test("filesToRunAgain() names the few files that failed beside servers, and replaceFiles() counts their second run", () => {
  const first = [ran("a", "failed", "1"), ran("a", "passed", "2"), ran("b", "passed")];
  const again = (name: Part["name"], tests: readonly RanTest[], files: readonly string[] = []): readonly string[] =>
    filesToRunAgain({ name }, { tests, files });
  assert.deepEqual(again("waiting", first), ["a"]);
  assert.deepEqual(again("waiting", first, ["a", "b", "not loaded"]), ["a", "not loaded"]);
  assert.deepEqual(again("node", [ran("b", "passed")], ["b", "of a lab that did not start"]), [
    "of a lab that did not start",
  ]);
  assert.deepEqual(again("waiting", [], ["not loaded"]), []);
  assert.deepEqual(again("pure", first), []);
  assert.deepEqual(again("node", [..."abcdefghijk"].map((file) => ran(file, "failed"))), []);
  const second = [ran("a", "passed", "1"), ran("a", "passed", "2")];
  assert.deepEqual(replaceFiles(first, second), [ran("b", "passed"), ...second]);
});

Deno.test("no unit test needs a program that a machine with a shell may lack", () => {
  const needy = listFiles("tests").filter((file) =>
    PARTS.unit.some((part) => pathsOf(part, [file]) !== undefined) &&
    /_test\.tsx?$/.test(file) &&
    /\bimport \{[^}]*\b(?:lacks|has)\b[^}]*\} from "[./]+support\/needs\.ts"/.test(Deno.readTextFileSync(file))
  );
  assert.deepEqual(needy, []);
});

Deno.test("every test on nodes reports it at the head of its name, and is skipped where there can be none", () => {
  const files = listFiles("tests/node").filter((file) => file.endsWith("_test.ts"));
  assert.ok(files.length > 5);
  const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;
  const odd = files.filter((file) => {
    const text = Deno.readTextFileSync(file);
    const tests = count(text, /^Deno\.test\(/gm);
    return tests === 0 ||
      [/^Deno\.test\(\s*"(?:[A-Z]+-\d+ )*node: /gm, /^ {2,4}ignore: lacks\("nodes"\)/gm].some((each) =>
        count(text, each) !== tests
      );
  });
  assert.deepEqual(odd, []);
});

const TIMED: Readonly<Record<string, string>> = {
  "tests/e2e/cluster.ts": "looks at a real cluster",
  "tests/lib/k8s/rest_api_test.ts": "requests of other connections arrive when they do",
  "tests/lib/upgrades/outside/support.ts": "bounds of time hold, pauses are left out",
};

/** Of the platform and the product; in two pieces, for this file is looked at as well. */
const WAITS = [["set", "Timeout("], ["systemClock", ".sleep("]].map((pieces) => pieces.join(""));
/** Of the tests on servers, some of whose helpers lie beside unit tests. */
const POLLS = ["support/", "wait.ts"].join("");

Deno.test("tests are defined in the files that are run, so that a run names those, their bed and what it runs again", () => {
  const helpers = listFiles("tests").filter((file) => file.endsWith(".ts") && !file.endsWith("_test.ts"));
  const defining = helpers.filter((file) =>
    /^ *(?:for .*|return .*)?\bDeno\.test\(/m.test(Deno.readTextFileSync(file))
  );
  // Tables of pure decisions, and of alerts by promtool: what fails there fails again.
  const tables = ["tests/lib/placement/decide/make.ts", "tests/monitoring/alert_hours.ts"];
  assert.deepEqual(defining.toSorted(), tables);
});

Deno.test("no unit test waits by the clock of the machine but those with a reason", () => {
  const waiting = listFiles("tests").filter((file) => {
    if (!PARTS.unit.some((part) => pathsOf(part, [file]) !== undefined)) return false;
    const text = Deno.readTextFileSync(file);
    return WAITS.some((wait) => text.includes(wait)) || file.endsWith("_test.ts") && text.includes(POLLS);
  });
  assert.deepEqual(waiting.toSorted(), Object.keys(TIMED));
});
