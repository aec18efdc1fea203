// The page of conformance, the record of the run behind it and the names of the tests: nothing is counted that did not run.
import assert from "node:assert/strict";
import { join } from "node:path";
import { parseClaim } from "./claims.ts";
import { parseJunit } from "./junit.ts";
import { LIMITS } from "./limits.ts";
import { type Reason, reasonOf, REASONS } from "./reasons.ts";
import { judge, renderPage, type Verdict } from "./report.ts";
import { ROWS } from "./rows.ts";
import { bedOf, isProof, parseRunRecord, recordRun, renderRunRecord, type RunRecord } from "./run_record.ts";
import { countSince } from "./since.ts";
import { isFilled, listFiles, listTestNames, matchLiterals, PAGE, RECORD, stepsIn } from "./sources.ts";
import { isAncestor } from "../support/git.ts";
import { lacks } from "../support/needs.ts";

const TESTS = new URL("..", import.meta.url).pathname;
const IDS: ReadonlySet<string> = new Set(ROWS.map(({ id }) => id));

Deno.test("every row of the catalogue has an id of its own and says what it demands in a sentence that stands alone", () => {
  assert.equal(IDS.size, ROWS.length);
  for (const { id, title } of ROWS) {
    assert.match(id, /^(?:[A-Z]+\d*-\d{2,3}|\d{1,3})$/);
    assert.match(title, /^[A-Z0-9].*\.$/, id);
    const words = title.split(" ").length;
    assert.ok(words >= 5 && words <= 30, `${id}: ${words} words`);
    assert.doesNotMatch(title, /\brow\b|\babove\b|\bas before\b|[A-Z]+-\d\d/, id);
  }
});

Deno.test("what is not shown is said once, and of passed rows alone", () => {
  assert.deepEqual(LIMITS.flatMap(({ ids }) => ids).filter((id) => parseClaim(id).ids.length === 0), []);
  const limited = LIMITS.flatMap(({ ids }) => parseClaim(ids.join(" ")).ids);
  const passed = new Set(verdicts().filter(({ status }) => status === "passed").map(({ row }) => row.id));
  assert.deepEqual(limited.filter((id, index) => !passed.has(id) || limited.indexOf(id) !== index), []);
});

function readRecord(): RunRecord {
  return parseRunRecord(Deno.readTextFileSync(RECORD));
}

function verdicts(): readonly Verdict[] {
  return judge(ROWS, { tests: readRecord().proofs, reasons: REASONS });
}

Deno.test("conformance.md is what the record of the run gives, and counts in its last line", () => {
  const page = Deno.readTextFileSync(PAGE);
  // The sources go on from the record, and the page says up to which commit it counted that.
  const given = page.replace(/^\* Since then: .*\n/m, "");
  assert.notEqual(given, page);
  assert.ok(given === renderPage(verdicts(), readRecord().about), "run `deno task conformance --render`");
  assert.match(page, /\npassed: \d+, different: \d+, not yet: \d+\n$/);
});

Deno.test("run.json records every test of today that names rows, and no test or step that is gone", async () => {
  const names = await listTestNames();
  const texts = sources().map((file) => Deno.readTextFileSync(file));
  const isStep = matchLiterals(texts);
  const record = readRecord().proofs;
  const recorded = new Set(record.filter((proof) => !proof.isStep).map(({ name }) => name));
  const gone = record.filter((proof) => proof.isStep ? !isStep(proof.name) : !names.has(proof.name));
  const unrecorded = [
    ...[...names].filter((name) => isProof(name, REASONS) && !recorded.has(name)),
    ...unrecordedSteps(texts, record.map(({ name }) => name)),
  ];
  const told = [...gone.map(({ name }) => `gone: ${name}`), ...unrecorded.map((name) => `not in the record: ${name}`)];
  assert.deepEqual(told.toSorted(), [], "tests were renamed, added or removed: run `deno task conformance`");
});

/** A name may stand in a table of tests as well as of steps. */
function unrecordedSteps(texts: readonly string[], recorded: readonly string[]): readonly string[] {
  return texts.flatMap(stepsIn)
    .filter((step) => isProof(step, REASONS) && !recorded.some((name) => isFilled(name, step)));
}

Deno.test("a step that names a row is demanded where its name stands in the sources", () => {
  const text = 'await t.step("O-001 one", f); await t.step({ name: `O-002 ${kind}`, fn });\n' +
    'const TABLE = [{ name: "O-003 \\"three\\"" }, { name: "403" }]; await t.step("no row", f); await t.step(made, f);';
  assert.deepEqual(unrecordedSteps([text], []), ["O-001 one", "O-002 ${kind}", 'O-003 "three"']);
  assert.deepEqual(unrecordedSteps([text], ["O-001 one", "O-002 two", 'O-003 "three"']), []);
});

Deno.test("run.json is of a clean commit that this tree comes from", { ignore: lacks("history") }, async () => {
  const { commit, isClean } = readRecord().about;
  assert.ok(isClean);
  assert.ok(await isAncestor(commit), `this tree does not come from ${commit}`);
  assert.equal(await isAncestor("f".repeat(40)), false, "a commit that git does not have");
});

Deno.test("tests/conformance/differences.md names every row whose difference a user can see, and none that is open, unknown or named before", () => {
  const text = Deno.readTextFileSync(join(TESTS, "conformance/differences.md"));
  const listed = [...text.matchAll(/\| ([^|]+) \|$/gm)].flatMap(([, cell = ""]) =>
    parseClaim(cell.trim().replaceAll(",", " ")).ids
  );
  const visible = verdicts().filter(({ row, status }) => {
    const kind = reasonOf(row.id)?.kind;
    return status === "different" && kind !== "internals" && kind !== "planned";
  });
  assert.deepEqual(visible.map(({ row }) => row.id).filter((id) => !listed.includes(id)), []);
  const settled = verdicts().filter(({ status }) => status !== "not yet").map(({ row }) => row.id);
  assert.deepEqual(listed.filter((id, index) => !settled.includes(id) || listed.indexOf(id) !== index), []);
});

function sources(): readonly string[] {
  return listFiles(TESTS).filter((file) => !file.startsWith(join(TESTS, "conformance/")));
}

Deno.test("no reason and no test names a row that does not exist, and no row has two reasons", async () => {
  const reasoned = REASONS.flatMap(({ ids }) => parseClaim(ids.join(" ")).ids);
  assert.deepEqual(reasoned.filter((id, index) => !IDS.has(id) || reasoned.indexOf(id) !== index), []);
  assert.deepEqual(sources().flatMap((file) => unknownIn(file)), []);
  const claims = [...await listTestNames()].flatMap((name) => parseClaim(name).ids.map((id) => ({ id, name })));
  assert.deepEqual(claims.filter(({ id }) => !IDS.has(id)), [], "put a word before a number that is no row");
});

const CURVE = "P-256";

const PREFIXES = [...new Set(ROWS.filter(({ id }) => id.includes("-")).map(({ group }) => group))].join("|");
const LEADING_IDS = new RegExp(`["\`]((?:(?:${PREFIXES})-\\d+ ?)+)`, "g");

function unknownIn(file: string): readonly string[] {
  return [...Deno.readTextFileSync(file).matchAll(LEADING_IDS)].flatMap(([, text = ""]) => parseClaim(text).ids)
    .filter((id) => !IDS.has(id) && id !== CURVE).map((id) => `${file}: ${id}`);
}

Deno.test("parseClaim() reads single ids, ranges, bare numbers and lists", () => {
  assert.deepEqual(parseClaim("PR-17 PR-18 decide() takes 3").ids, ["PR-17", "PR-18"]);
  assert.deepEqual(parseClaim("RF-01..03 parse").ids, ["RF-01", "RF-02", "RF-03"]);
  assert.deepEqual(parseClaim("136 211 PC-07 refuses").ids, ["136", "211", "PC-07"]);
  assert.deepEqual(parseClaim("the CRDs: rows 100-102, 130").ids, ["100", "101", "102", "130"]);
  assert.deepEqual(parseClaim("any order gives the same (P-133 P-134)").ids, ["P-133", "P-134"]);
  assert.deepEqual(parseClaim("a name (with words, P-133)").ids, []);
  const { different } = parseClaim("DV-46 (different: a seed counts for nothing) decide()");
  assert.equal(different, "a seed counts for nothing");
});

const ABOUT = {
  ...{ commit: "0".repeat(40), isClean: true, date: "2026-01-01", machine: "2 cores", deno: "2.9.6" },
  ...{ repeated: ["tests/a_test.ts"], skipped: [] },
};

Deno.test("judge() counts a row by its tests, then by its reason, and a failure as not yet", () => {
  const xml =
    `<testsuite name="./tests/lib/placement/decide/a_test.ts"><testcase name="outer &gt; PM-01 a &quot;b&quot;"/>` +
    `<testcase name="PM-02 x"><failure/></testcase><testcase name="PM-03 x"><skipped/></testcase>` +
    `<testcase name="other"></testcase><testcase name="PM-07 y"/></testsuite>` +
    `<testsuite name="./tests/cluster/a_test.ts"><testcase name="PM-01 z"/></testsuite>`;
  const reasons: readonly Reason[] = [
    { ids: ["PM-03..04"], kind: "internals", why: "so" },
    { ids: ["PM-07"], kind: "differs", why: "shown", by: "PM-07 y" },
    { ids: ["PM-05"], kind: "covered", why: "same", by: "other" },
    { ids: ["PM-06"], kind: "covered", why: "same", by: "nobody" },
  ];
  const rows = ROWS.filter(({ group }) => group === "PM").slice(0, 8);
  const written = renderRunRecord({ about: ABOUT, proofs: recordRun(parseJunit(xml), reasons) });
  const { proofs: tests } = parseRunRecord(written);
  const judged = judge(rows, { tests, reasons });
  assert.deepEqual(judged.map(({ status, bed, note }) => [status, bed, note]), [
    ["passed", "control plane", "PM-01 z"],
    ["not yet", undefined, "fails: PM-02 x"],
    ["different", undefined, "so"],
    ["different", undefined, "so"],
    ["passed", "pure", "same: other"],
    ["not yet", undefined, "no such test: nobody"],
    ["different", "pure", "shown: PM-07 y"],
    ["not yet", undefined, ""],
  ]);
  const page = renderPage(judged, ABOUT);
  assert.match(page, /\npassed: 2, different: 3, not yet: 3\n$/);
  assert.match(page, /^\| control plane \| [^|]+ \| 1 \| 0 \|$/m);
  assert.match(page, /run once more, alone: tests\/a_test\.ts\.$/m);
});

Deno.test("countSince() counts the rows whose tests or steps are in files that changed", () => {
  const proof = { bed: "unit", outcome: "passed" } as const;
  const proofs = [
    { ...proof, name: "PM-01 PM-02 a", isStep: false },
    { ...proof, name: "PM-03 b", isStep: false },
    { ...proof, name: "PM-04 a step of both", isStep: true },
  ];
  const sources = {
    tests: [
      { name: "PM-01 PM-02 a", file: "a" },
      { name: "PM-03 b", file: "b" },
      { name: "PM-09 that is new", file: "new" },
      { name: "of no row", file: "other" },
    ],
    steps: [{ file: "table", text: 'const NAME = "PM-04 a step of both";' }],
  };
  const count = (...changed: readonly string[]): unknown =>
    countSince({ proofs, changed: new Set(changed) }, sources, []);
  assert.deepEqual(count("other"), { files: [], rows: 0, of: 4 });
  assert.deepEqual(count("a", "new", "other"), { files: ["a", "new"], rows: 2, of: 4 });
  assert.deepEqual(count("table"), { files: ["table"], rows: 1, of: 4 });
  const page = renderPage(verdicts(), ABOUT, { head: "abc", files: ["table"], rows: 1, of: 4 });
  assert.match(page, /^\* Since then: 1 of 4 rows have a test file that changed, up to commit abc; /m);
});

Deno.test("tests/conformance/differences.md lists the rows that are not yet there", () => {
  const [, list = ""] = /\srows ([^"]+?) are\s+"not\s+yet"/.exec(
    Deno.readTextFileSync(join(TESTS, "conformance/differences.md")),
  ) ?? [];
  const words = list.replaceAll(/\s+/g, " ").replaceAll(" to ", "-").replaceAll(/,|\band\b/g, " ").trim();
  const listed = parseClaim(words).ids;
  const open = verdicts().filter(({ status }) => status === "not yet").map(({ row }) => row.id);
  assert.deepEqual(listed.toSorted(), open.toSorted());
});

Deno.test("bedOf() distinguishes decisions, doubles, the playground and real servers", () => {
  const beds: Readonly<Record<string, string>> = {
    "lib/operator/decide/a": "pure",
    "lib/oci/a": "unit",
    "playground/a": "playground",
    "cluster/registry_a": "registry",
    "cluster/index_a": "registry",
    "cluster/a": "control plane",
    "chaos/a": "control plane",
    "node/a": "node",
  };
  for (const [path, bed] of Object.entries(beds)) assert.equal(bedOf(`tests/${path}_test.ts`), bed, path);
});

Deno.test("recordRun() keeps the failure of a test that ran twice", () => {
  const run = (outcome: "passed" | "failed"): Parameters<typeof recordRun>[0] => [
    { name: "PM-01 a", file: "tests/lib/operator/decide/a_test.ts", isStep: false, outcome },
  ];
  const outcomes = recordRun([...run("failed"), ...run("passed")], []).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes, ["failed"]);
});
