// The page of conformance and the names of the tests: every row once, counts that add up, no row that does not exist.
import assert from "node:assert/strict";
import { join } from "node:path";
import { parseClaim } from "./claims.ts";
import { parseJunit } from "./junit.ts";
import { reasonOf, REASONS } from "./reasons.ts";
import { judge, noteOf, renderPage } from "./report.ts";
import { ROWS } from "./rows.ts";
import { listFiles, listTestNames, matchLiterals } from "./sources.ts";

const TESTS = new URL("../", import.meta.url).pathname;
const IDS: ReadonlySet<string> = new Set(ROWS.map(({ id }) => id));

Deno.test("every row of the catalogue has an id of its own and a title", () => {
  assert.equal(IDS.size, ROWS.length);
  for (const { id, title } of ROWS) assert.match(`${id} ${title}`, /^(?:[A-Z]+\d*-\d{2,3}|\d{1,3}) \S.*$/);
});

interface PageRow {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly note: string;
}

function readPage(): { readonly rows: readonly PageRow[]; readonly lastLine: string } {
  const lines = Deno.readTextFileSync(join(TESTS, "conformance.md")).trimEnd().split("\n");
  const rows = lines.flatMap((line) => {
    const [, id, title, status, note] = /^\| (\S+) \| (.+?) \| (passed|different|not yet) \| (.*) \|$/.exec(line) ?? [];
    if (id === undefined || title === undefined || status === undefined || note === undefined) return [];
    return [{ id, title, status, note: note.replaceAll("\\|", "|") }];
  });
  return { rows, lastLine: lines.at(-1) ?? "" };
}

Deno.test("conformance.md lists every row once, in order, and counts them in its last line", () => {
  const { rows, lastLine } = readPage();
  assert.deepEqual(rows.map(({ id, title }) => ({ id, title })), ROWS.map(({ id, title }) => ({ id, title })));
  const [passed, different, notYet] = ["passed", "different", "not yet"].map((wanted) =>
    rows.filter(({ status }) => status === wanted).length
  );
  assert.equal(lastLine, `passed: ${passed}, different: ${different}, not yet: ${notYet}`);
});

Deno.test("conformance.md names only tests that exist, reasons as they are given, and no row as open that has a test", async () => {
  const names = await listTestNames();
  const claimed = new Set([...names].flatMap((name) => parseClaim(name).ids));
  const isStep = matchLiterals(sources().map((file) => Deno.readTextFileSync(file)));
  const exists = (name: string): boolean => names.has(name) || isStep(name);
  const stale = readPage().rows.filter(({ id, status, note }) => {
    const reason = reasonOf(id);
    const by = reason === undefined || reason.status === "not yet" ? undefined : reason.by;
    const speaks = reason !== undefined && (!claimed.has(id) || (reason.status === "different" && by !== undefined));
    if (speaks) return note !== noteOf(reason) || (by !== undefined && !exists(by));
    const isNamed = parseClaim(note).ids.includes(id) && exists(note);
    return !isNamed && !(status === "not yet" && note === "" && !claimed.has(id));
  });
  const told = stale.map(({ id, status, note }) => `${id} (${status}): ${note}`);
  assert.deepEqual(told, [], "tests and page differ: run `deno task conformance`");
});

Deno.test("README.md names every row whose difference a user can see, and none that is open, unknown or named before", async () => {
  const readme = await Deno.readTextFile(join(TESTS, "../README.md"));
  const section = readme.slice(readme.indexOf("## Differences"), readme.indexOf("## Design notes"));
  const listed = [...section.matchAll(/\| ([^|]+) \|$/gm)].flatMap(([, cell = ""]) =>
    cell.split(",").map((id) => id.trim()).filter((id) => /^(?:[A-Z]+\d*-\d+|\d+)$/.test(id))
  );
  const { rows } = readPage();
  const visible = rows.filter(({ id, status }) => {
    const reason = reasonOf(id);
    return status === "different" && (reason?.status !== "different" || reason.of === "behaviour");
  });
  assert.deepEqual(visible.map(({ id }) => id).filter((id) => !listed.includes(id)), []);
  const settled = rows.filter(({ status }) => status !== "not yet").map(({ id }) => id);
  assert.deepEqual(listed.filter((id, index) => !settled.includes(id) || listed.indexOf(id) !== index), []);
});

function sources(): readonly string[] {
  return listFiles(TESTS).filter((file) => !file.startsWith(join(TESTS, "conformance/")));
}

Deno.test("no reason and no test speaks of a row that does not exist, and no row has two reasons", () => {
  const reasoned = REASONS.flatMap(({ ids }) => parseClaim(ids.join(" ")).ids);
  assert.deepEqual(reasoned.filter((id, index) => !IDS.has(id) || reasoned.indexOf(id) !== index), []);
  assert.deepEqual(sources().flatMap((file) => unknownIn(file)), []);
});

/** Ids in string literals that begin with one. */
function unknownIn(file: string): readonly string[] {
  const prefixes = [...new Set(ROWS.filter(({ id }) => id.includes("-")).map(({ group }) => group))].join("|");
  const literals = Deno.readTextFileSync(file).matchAll(new RegExp(`["\`]((?:(?:${prefixes})-\\d+ ?)+)`, "g"));
  return [...literals].flatMap(([, text = ""]) => parseClaim(text).ids)
    .filter((id) => !IDS.has(id)).map((id) => `${file}: ${id}`);
}

Deno.test("parseClaim() reads single ids, ranges, bare numbers and lists, and leaves sections and defects out", () => {
  assert.deepEqual(parseClaim("PR-17 PR-18 decide() takes 3").ids, ["PR-17", "PR-18"]);
  assert.deepEqual(parseClaim("RF-01..03 parse").ids, ["RF-01", "RF-02", "RF-03"]);
  assert.deepEqual(parseClaim("136 211 PC-07 B11 1.1 §2.9 refuses").ids, ["136", "211", "PC-07"]);
  assert.deepEqual(parseClaim("7.9 the CRDs: rows 100-102, 130").ids, ["100", "101", "102", "130"]);
  assert.equal(
    parseClaim("DV-46 (different: a seed counts for nothing) decide()").different,
    "a seed counts for nothing",
  );
});

Deno.test("judge() counts a row by its tests, then by its reason, and a failure as not yet", () => {
  const xml =
    `<testcase name="outer &gt; PM-01 a &quot;b&quot;" line="1"/><testcase name="PM-02 x"><failure/></testcase>` +
    `<testcase name="PM-03 x"><skipped/></testcase><testcase name="other"></testcase><testcase name="PM-07 y"/>`;
  const reasons = [
    { ids: ["PM-03..04"], status: "different", of: "internals", why: "so" },
    { ids: ["PM-07"], status: "different", of: "behaviour", why: "shown", by: "PM-07 y" },
    { ids: ["PM-05"], status: "covered", why: "same", by: "other" },
    { ids: ["PM-06"], status: "covered", why: "same", by: "nobody" },
  ] as const;
  const rows = ROWS.filter(({ group }) => group === "PM").slice(0, 8);
  const verdicts = judge(rows, { tests: parseJunit(xml), reasons });
  assert.deepEqual(verdicts.map(({ status, note }) => [status, note]), [
    ["passed", 'PM-01 a "b"'],
    ["not yet", "fails: PM-02 x"],
    ["different", "so"],
    ["different", "so"],
    ["passed", "same: other"],
    ["not yet", "no such test: nobody"],
    ["different", "shown: PM-07 y"],
    ["not yet", ""],
  ]);
  assert.match(renderPage(verdicts), /\npassed: 2, different: 3, not yet: 3\n$/);
});
