// Runs `deno task test`, or takes the JUnit files of earlier runs, and writes the record of the run and the page.
import { join } from "node:path";
import { missingForControlPlane } from "../cluster/support/binaries.ts";
import { parseJunit, type RanTest } from "./junit.ts";
import { REASONS } from "./reasons.ts";
import { judge, renderPage, type Verdict } from "./report.ts";
import { ROWS } from "./rows.ts";
import { parseRunRecord, type Proof, recordRun, renderRunRecord } from "./run_record.ts";
import { PAGE, RECORD } from "./sources.ts";
import { replaceFiles } from "../run/again.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const USAGE = `Usage: deno task conformance [--from FOLDER | --render]

Writes tests/conformance/run.json, the record of a run, and tests/conformance.md, which is made of it.
Without arguments the tests of deno task test run first; CONTRIBUTING.md says what the cluster tests need. With --from
FOLDER nothing is run: the JUnit files in FOLDER are read, those of

  ARCHWAY_JUNIT_DIR=FOLDER deno task test                                       # all at once, or in parts:
  ARCHWAY_JUNIT_DIR=FOLDER deno task test:unit
  ARCHWAY_JUNIT_DIR=FOLDER deno task test:cluster tests/cluster/walk_test.ts     # and so on, file by file
  ARCHWAY_JUNIT_DIR=FOLDER deno task test:node

With --render the committed record is kept and the page is written anew, after a change of reasons, titles or layout.
Exit code: 0 when no row fails, 1 when one does, 2 for bad usage, 3 when it could not be done.
`;

/** What must have run, by the beginnings of the JUnit files' names. */
const PARTS = [/^pure/, /^unit/, /^tools/, /^(?:cluster|leader|waiting)/, /^node(?!-long)/] as const;

/** The parts that none of these JUnit files is of. Where nodes cannot run, the file is there and has their tests as skipped. */
export function missingParts(names: readonly string[]): readonly RegExp[] {
  return PARTS.filter((part) => !names.some((name) => part.test(name)));
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

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
  const missing = missingParts(names);
  if (missing.length > 0) {
    throw new Error(
      `Cannot count from "${folder}": it has no JUnit file like ${missing.join(", ")}. Run that part first.`,
    );
  }
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

/** Writes the page of these proofs, and answers whether no row fails. */
async function writePage(proofs: readonly Proof[]): Promise<boolean> {
  const verdicts = judge(ROWS, { tests: proofs, reasons: REASONS });
  const page = renderPage(verdicts);
  await Deno.writeTextFile(PAGE, page);
  const failing = verdicts.filter(isFailing);
  for (const { row, note } of failing) print(`${row.id}: ${note}`);
  print(page.trimEnd().split("\n").at(-1) ?? "");
  return failing.length === 0;
}

async function writeRun(folder: string): Promise<boolean> {
  const proofs = recordRun(await readRun(folder), REASONS);
  await Deno.writeTextFile(RECORD, renderRunRecord(proofs));
  return await writePage(proofs);
}

/** A row that has a test or names one, and yet is not passed. */
function isFailing({ status, note }: Verdict): boolean {
  return status === "not yet" && /^(?:fails|no such test): /.test(note);
}

async function main(args: readonly string[]): Promise<number> {
  const [flag, given, ...rest] = args;
  if (flag === "--from" && given !== undefined && rest.length === 0) return await writeRun(given) ? 0 : 1;
  if (flag === "--render" && given === undefined) {
    return await writePage(parseRunRecord(await Deno.readTextFile(RECORD))) ? 0 : 1;
  }
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
