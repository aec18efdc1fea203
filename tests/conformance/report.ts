// What became of each row, and the page that says so. Pure.
import { parseClaim } from "./claims.ts";
import { lacksOf } from "./limits.ts";
import { type Reason, reasonOf } from "./reasons.ts";
import type { Row } from "./rows.ts";
import { type Bed, BED_MEANINGS, BEDS, type Proof, type RunAbout } from "./run_record.ts";
import type { Since } from "./since.ts";

export type Status = "passed" | "different" | "not yet";

export interface Verdict {
  readonly row: Row;
  readonly status: Status;
  /** The bed of the strongest test that proves it; undefined when no test does. */
  readonly bed?: Bed | undefined;
  /** The test that proves it, or why there is none. */
  readonly note: string;
  /** What that test leaves open of a passed row. */
  readonly lacks?: string | undefined;
}

export interface Evidence {
  readonly tests: readonly Proof[];
  readonly reasons: readonly Reason[];
}

const STATUSES: readonly Status[] = ["passed", "different", "not yet"];

function proofsById(proofs: readonly Proof[]): ReadonlyMap<string, readonly Proof[]> {
  const found = new Map<string, Proof[]>();
  for (const proof of proofs) {
    for (const id of parseClaim(proof.name).ids) found.set(id, [...found.get(id) ?? [], proof]);
  }
  return found;
}

/** The strongest bed first, then by name. */
function byStrength(a: Proof, b: Proof): number {
  return BEDS.indexOf(b.bed) - BEDS.indexOf(a.bed) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

function judgeByTests(row: Row, proofs: readonly Proof[]): Verdict {
  const sorted = proofs.toSorted(byStrength);
  const failed = sorted.find(({ outcome }) => outcome === "failed");
  if (failed !== undefined) return { row, status: "not yet", note: `fails: ${failed.name}` };
  const different = sorted.find(({ name }) => parseClaim(name).different !== undefined);
  if (different !== undefined) return { row, status: "different", bed: different.bed, note: different.name };
  return { row, status: "passed", bed: sorted[0]?.bed, note: sorted[0]?.name ?? "" };
}

function judgeByReason(row: Row, { reasons, tests }: Evidence): Verdict {
  const reason = reasonOf(row.id, reasons);
  if (reason === undefined) return { row, status: "not yet", note: "" };
  const { kind, why, by } = reason;
  const status = kind === "covered" ? "passed" : kind === "not yet" ? kind : "different";
  if (by === undefined) return { row, status, note: why };
  const [proof] = tests.filter(({ name }) => name === by).toSorted(byStrength);
  if (proof?.outcome === "passed") return { row, status, bed: proof.bed, note: `${why}: ${by}` };
  return { row, status: "not yet", note: `${proof === undefined ? "no such test" : "fails"}: ${by}` };
}

/** Judges every row: a difference that a test shows comes first, then the tests that carry the id, then the reason. */
export function judge(rows: readonly Row[], evidence: Evidence): readonly Verdict[] {
  const tests = proofsById(evidence.tests);
  return rows.map((row) => {
    const reason = reasonOf(row.id, evidence.reasons);
    const own = tests.get(row.id);
    const isShownDifference = reason !== undefined && reason.kind !== "covered" && reason.by !== undefined;
    const verdict = own === undefined || isShownDifference ? judgeByReason(row, evidence) : judgeByTests(row, own);
    return verdict.status === "passed" ? { ...verdict, lacks: lacksOf(row.id) } : verdict;
  });
}

function count(verdicts: readonly Verdict[]): readonly number[] {
  return STATUSES.map((wanted) => verdicts.filter(({ status }) => status === wanted).length);
}

function cell(text: string): string {
  return text.replaceAll(/[|*]/g, "\\$&").replaceAll("\n", " ");
}

function renderGroups(verdicts: readonly Verdict[], groups: readonly string[]): readonly string[] {
  const lines = groups.map((group) => {
    const own = verdicts.filter(({ row }) => row.group === group);
    return `| ${group} | ${own.length} | ${count(own).join(" | ")} |`;
  });
  return ["| Group | Rows | Passed | Different | Not yet |", "|---|---|---|---|---|", ...lines];
}

function renderGroup(group: string, verdicts: readonly Verdict[]): readonly string[] {
  const own = verdicts.filter(({ row }) => row.group === group);
  return [
    `## ${group}`,
    "",
    "| Row | What it demands | Status | Bed | Test, or why not |",
    "|---|---|---|---|---|",
    ...own.map(({ row, status, bed = "–", note, lacks }) => {
      const open = lacks === undefined ? "" : ` **Not shown:** ${cell(lacks)}.`;
      return `| ${row.id} | ${cell(row.title)} | ${status} | ${bed} | ${cell(note)}${open} |`;
    }),
    "",
  ];
}

function renderBeds(verdicts: readonly Verdict[]): readonly string[] {
  const passed = verdicts.filter(({ status }) => status === "passed");
  return [
    "| Bed | What it is | Passed rows | Of these less is shown than the row says |",
    "|---|---|---|---|",
    ...BEDS.map((bed) => {
      const own = passed.filter((each) => each.bed === bed);
      const less = own.filter(({ lacks }) => lacks !== undefined).length;
      return `| ${bed} | ${BED_MEANINGS[bed]} | ${own.length} | ${less} |`;
    }),
  ];
}

/** The rows of each area, the passed ones by their bed. */
function renderAreas(verdicts: readonly Verdict[]): readonly string[] {
  const areas = [...new Set(verdicts.map(({ row }) => row.area))];
  const cells = (own: readonly Verdict[]): readonly number[] => [
    own.length,
    ...BEDS.map((bed) => own.filter((each) => each.status === "passed" && each.bed === bed).length),
    ...count(own),
  ];
  const heads = ["Area", "Rows", ...BEDS, "Passed", "Different", "Not yet"];
  return [
    `| ${heads.join(" | ")} |`,
    `|${"---|".repeat(heads.length)}`,
    ...areas.map((area) => `| ${area} | ${cells(verdicts.filter(({ row }) => row.area === area)).join(" | ")} |`),
    `| all | ${cells(verdicts).join(" | ")} |`,
  ];
}

/** Which run it was, and what of it was not the first try or did not run. */
function renderAbout({ commit, date, machine, deno, repeated, skipped }: RunAbout): readonly string[] {
  const list = (names: readonly string[]): string => names.length === 0 ? "none" : names.map(cell).join("; ");
  return [
    `* Run: commit ${commit}, ${date}, Deno ${deno}, ${machine}.`,
    `* Files that failed beside others and were run once more, alone: ${list(repeated)}.`,
    `* Tests skipped: ${list(skipped)}.`,
  ];
}

function renderSince(since: Since | undefined): readonly string[] {
  if (since === undefined) return [];
  const { head, rows, of } = since;
  const count = `${rows} of ${of} rows have a test file that changed`;
  return [
    `* Since then: ${count}, up to commit ${head}; \`deno task conformance --check\` lists these files as of today.`,
  ];
}

/** The whole page; its last line is the one that is counted. */
export function renderPage(verdicts: readonly Verdict[], about: RunAbout, since?: Since): string {
  const [passed, different, notYet] = count(verdicts);
  const groups = [...new Set(verdicts.map(({ row }) => row.group))];
  return [
    "# Conformance",
    "",
    "What the Multiarch Tuning Operator (MTO), the Managed Upgrade Operator (MUO) and the image builds of the machine config",
    "operator do, as rows that their own tests and code demand, and what proves them here. Rows of the groups DV, N, P and Q are",
    "Archway's own. Groups UT, AP, PC, EP, EX, TM, M2 and MD-34 to MD-38 repeat demands of other groups, which count again.",
    "",
    "Made by `deno task conformance` from `tests/conformance/run.json`, the record of a run; do not edit. A row counts by the tests",
    "that carry its id in their names; it is passed when all of them passed. The bed is that of the strongest of them. Where the",
    "tests of a passed row prove less than its sentence, the row says what is **not shown**. No cluster of OpenShift took part.",
    "The check of this page fails while the record lacks a test of a row, or a step whose name stands in the sources. Steps that",
    "are named while they run cannot be listed before.",
    "",
    "In the rows *the gate* is `multiarch.openshift.io/scheduling-gate`, *the cluster config* the ClusterPodPlacementConfig, *a",
    "namespace config* a PodPlacementConfig, *scoring* the plugin `nodeAffinityScoring`, *a plan* an UpgradeConfig, *a pool* a",
    "MachineConfigPool, *a build* a MachineOSBuild, and *a key* the hash of what one architecture's image is made of.",
    "",
    ...renderAbout(about),
    ...renderSince(since),
    "",
    ...renderBeds(verdicts),
    "",
    ...renderAreas(verdicts),
    "",
    ...renderGroups(verdicts, groups),
    "",
    ...groups.flatMap((group) => renderGroup(group, verdicts)),
    `passed: ${passed}, different: ${different}, not yet: ${notYet}`,
    "",
  ].join("\n");
}
