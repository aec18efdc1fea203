// Runs `deno task test`, or takes the JUnit files of earlier runs, and writes the record of the run and the page.
import { join } from "node:path";
import { missingForControlPlane } from "../cluster/support/binaries.ts";
import { parseJunit, type RanTest } from "./junit.ts";
import { REASONS } from "./reasons.ts";
import { judge, renderPage, type Verdict } from "./report.ts";
import { ROWS } from "./rows.ts";
import {
  ABOUT_FILE,
  parseAbout,
  parseRunRecord,
  recordRun,
  renderRunRecord,
  type RunAbout,
  type RunRecord,
} from "./run_record.ts";
import { readSince } from "./since.ts";
import { PAGE, RECORD } from "./sources.ts";
import { replaceFiles } from "../run/again.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { print } from "../support/print.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const USAGE = `Usage: deno task conformance [--from FOLDER | --render | --check]

Writes tests/conformance/run.json, the record of a run, and tests/conformance.md, which is made of it.
Without arguments the tests of deno task test run first; tests/README.md says what the cluster tests need. With --from
FOLDER nothing is run: what a complete run left in FOLDER is read, that of

  ARCHWAY_JUNIT_DIR=FOLDER deno task test

With --render the committed record is kept and the page is written anew, after a change of reasons, titles or layout.
With --check nothing is written: the test files of rows that changed since the commit of the record are listed.
Exit code: 0 when no row fails, of --check when no file changed, 1 otherwise, 2 for bad usage, 3 when it could not be done.
`;

/** Runs `deno task test`, which leaves JUnit files in the folder. Failing tests do not stop us: the page says so. */
async function runAll(folder: string): Promise<void> {
  const missing = await missingForControlPlane();
  if (missing !== undefined) throw new Error(`Cannot run the cluster tests, which prove many rows: ${missing}`);
  const args = ["run", "-A", join(ROOT, "tests/run.ts"), "all"];
  const env = { ARCHWAY_JUNIT_DIR: folder };
  await new Deno.Command(Deno.execPath(), { args, cwd: ROOT, env, stdin: "null" }).spawn().status;
}

async function readRun(folder: string): Promise<readonly RanTest[]> {
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).filter((n) => n.endsWith(".xml"));
  const read = async (name: string): Promise<readonly RanTest[]> =>
    parseJunit(await Deno.readTextFile(join(folder, name)));
  const runs = names.sort().filter((name) => !AGAIN.test(name)).map(async (name) => {
    const again = names.find((other) => AGAIN.test(other) && other.replace(AGAIN, ".xml") === name);
    return again === undefined ? await read(name) : replaceFiles(await read(name), await read(again));
  });
  return (await Promise.all(runs)).flat();
}

/** The second run of the files that failed in a part. */
const AGAIN = /-again\.xml$/;

/** What the run in the folder was of. A run that was narrowed, or of a tree that no commit has, is no record. */
async function readAbout(folder: string): Promise<RunAbout> {
  const text = await Deno.readTextFile(join(folder, ABOUT_FILE)).catch((cause: unknown) => {
    throw new Error(`Cannot record the run in "${folder}": it has no ${ABOUT_FILE}, so it was not complete`, { cause });
  });
  const about = parseAbout(text);
  if (!about.isClean) {
    throw new Error(`Cannot record the run in "${folder}": its tree had changes. Commit, and run again.`);
  }
  return about;
}

/** Writes the page of this record, and answers whether no row fails. */
async function writePage(record: RunRecord): Promise<boolean> {
  const verdicts = judge(ROWS, { tests: record.proofs, reasons: REASONS });
  const page = renderPage(verdicts, record.about, await readSince(record));
  await Deno.writeTextFile(PAGE, page);
  const failing = verdicts.filter(isFailing);
  for (const { row, note } of failing) print(`${row.id}: ${note}`);
  print(page.trimEnd().split("\n").at(-1) ?? "");
  return failing.length === 0;
}

async function writeRun(folder: string): Promise<boolean> {
  const record = { about: await readAbout(folder), proofs: recordRun(await readRun(folder), REASONS) };
  await Deno.writeTextFile(RECORD, renderRunRecord(record));
  return await writePage(record);
}

/** Lists the test files of rows that are not as they were recorded, and answers whether there is none. */
async function check(): Promise<boolean> {
  const record = await readRecord();
  const { files, rows, of } = await readSince(record);
  for (const file of files) print(file);
  print(`${rows} of ${of} rows have a test file that changed since ${record.about.commit}`);
  return files.length === 0;
}

async function readRecord(): Promise<RunRecord> {
  return parseRunRecord(await Deno.readTextFile(RECORD));
}

/** A row that has a test or names one, and yet is not passed. */
function isFailing({ status, note }: Verdict): boolean {
  return status === "not yet" && /^(?:fails|no such test): /.test(note);
}

async function main(args: readonly string[]): Promise<number> {
  const [flag, given, ...rest] = args;
  if (flag === "--from" && given !== undefined && rest.length === 0) return await writeRun(given) ? 0 : 1;
  if (flag === "--render" && given === undefined) return await writePage(await readRecord()) ? 0 : 1;
  if (flag === "--check" && given === undefined) return await check() ? 0 : 1;
  if (flag !== undefined) {
    print(USAGE);
    return flag === "--help" ? 0 : 2;
  }
  await using folder = await temporaryFolder();
  await runAll(folder.path);
  return await writeRun(folder.path) ? 0 : 1;
}

if (import.meta.main) {
  const code = await main(Deno.args).catch((error: unknown) => {
    print(error instanceof Error ? error.message : String(error));
    return 3;
  });
  Deno.exit(code);
}
