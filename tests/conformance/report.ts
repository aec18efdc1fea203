// What became of each row, and the page that says so. Pure.
import { parseClaim } from "./claims.ts";
import type { RanTest } from "./junit.ts";
import { type Reason, reasonOf } from "./reasons.ts";
import type { Row } from "./rows.ts";

/** What a row came to. */
export type Status = "passed" | "different" | "not yet";

/** One line of the page. */
export interface Verdict {
  readonly row: Row;
  readonly status: Status;
  /** The test that proves it, or why there is none. */
  readonly note: string;
}

/** What the page is made of. */
export interface Evidence {
  readonly tests: readonly RanTest[];
  readonly reasons: readonly Reason[];
}

const STATUSES: readonly Status[] = ["passed", "different", "not yet"];

function testsById(tests: readonly RanTest[]): ReadonlyMap<string, readonly RanTest[]> {
  const found = new Map<string, RanTest[]>();
  for (const test of tests) {
    if (test.outcome === "ignored") continue;
    for (const id of parseClaim(test.name).ids) found.set(id, [...found.get(id) ?? [], test]);
  }
  return found;
}

function judgeByTests(row: Row, tests: readonly RanTest[]): Verdict {
  const sorted = tests.toSorted((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  const failed = sorted.find(({ outcome }) => outcome === "failed");
  if (failed !== undefined) return { row, status: "not yet", note: `fails: ${failed.name}` };
  const different = sorted.find(({ name }) => parseClaim(name).different !== undefined);
  if (different !== undefined) return { row, status: "different", note: different.name };
  return { row, status: "passed", note: sorted[0]?.name ?? "" };
}

function judgeByReason(row: Row, { reasons, tests }: Evidence): Verdict {
  const reason = reasonOf(row.id, reasons);
  if (reason === undefined) return { row, status: "not yet", note: "" };
  const status = reason.status === "covered" ? "passed" : reason.status;
  const by = reason.status === "not yet" ? undefined : reason.by;
  if (by === undefined) return { row, status, note: reason.why };
  const proof = tests.find(({ name, outcome }) => name === by && outcome !== "ignored");
  if (proof?.outcome === "passed") return { row, status, note: noteOf(reason) };
  return { row, status: "not yet", note: `${proof === undefined ? "no such test" : "fails"}: ${by}` };
}

/** What the page says of a row that a reason speaks for. */
export function noteOf(reason: Reason): string {
  const by = reason.status === "not yet" ? undefined : reason.by;
  return by === undefined ? reason.why : `${reason.why}: ${by}`;
}

/** Judges every row: a difference that a test shows comes first, then the tests that carry the id, then the reason. */
export function judge(rows: readonly Row[], evidence: Evidence): readonly Verdict[] {
  const tests = testsById(evidence.tests);
  return rows.map((row) => {
    const reason = reasonOf(row.id, evidence.reasons);
    const own = tests.get(row.id);
    const isShownDifference = reason?.status === "different" && reason.by !== undefined;
    return own === undefined || isShownDifference ? judgeByReason(row, evidence) : judgeByTests(row, own);
  });
}

function count(verdicts: readonly Verdict[]): readonly number[] {
  return STATUSES.map((wanted) => verdicts.filter(({ status }) => status === wanted).length);
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

function renderSummary(verdicts: readonly Verdict[], keyOf: (row: Row) => string): readonly string[] {
  const keys = [...new Set(verdicts.map(({ row }) => keyOf(row)))];
  return keys.map((key) => {
    const own = verdicts.filter(({ row }) => keyOf(row) === key);
    return `| ${key} | ${own.length} | ${count(own).join(" | ")} |`;
  });
}

function renderGroup(group: string, verdicts: readonly Verdict[]): readonly string[] {
  const own = verdicts.filter(({ row }) => row.group === group);
  return [
    `## ${group}`,
    "",
    "| Row | Title | Status | Test, or why not |",
    "|---|---|---|---|",
    ...own.map(({ row, status, note }) => `| ${row.id} | ${cell(row.title)} | ${status} | ${cell(note)} |`),
    "",
  ];
}

/** The whole page; its last line is the one that is counted. */
export function renderPage(verdicts: readonly Verdict[]): string {
  const [passed, different, notYet] = count(verdicts);
  const groups = [...new Set(verdicts.map(({ row }) => row.group))];
  const table = (what: string): readonly string[] => [
    `| ${what} | Rows | Passed | Different | Not yet |`,
    "|---|---|---|---|---|",
  ];
  return [
    "# Conformance",
    "",
    "Rows of the reference's test catalogues, and what proves them here. Made by `deno task conformance` from the tests",
    "that ran; do not edit. A row counts by the tests that carry its id at the head of their names.",
    "",
    ...table("Area"),
    ...renderSummary(verdicts, ({ area }) => area),
    "",
    ...table("Group"),
    ...renderSummary(verdicts, ({ group }) => group),
    "",
    ...groups.flatMap((group) => renderGroup(group, verdicts)),
    `passed: ${passed}, different: ${different}, not yet: ${notYet}`,
    "",
  ].join("\n");
}
