// `deno task conformance [--from FOLDER]`: runs all tests, or takes the JUnit files of earlier runs, and writes the page.
import { join } from "node:path";
import { missingForControlPlane } from "../cluster/support/binaries.ts";
import { parseJunit, type RanTest } from "./junit.ts";
import { REASONS } from "./reasons.ts";
import { judge, renderPage, type Verdict } from "./report.ts";
import { ROWS } from "./rows.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const PAGE = join(ROOT, "tests/conformance.md");
const USAGE = `Usage: deno task conformance [--from FOLDER]

Runs all tests (a quarter of an hour, see README.md for what the cluster tests need) and writes tests/conformance.md.
With --from it runs nothing and reads the JUnit files in FOLDER. To run in parts:

  ARCHWAY_JUNIT_DIR=FOLDER deno task test:unit
  ARCHWAY_JUNIT_DIR=FOLDER deno task test:cluster tests/cluster/walk_test.ts     # and so on, file by file
`;

/** What must have run, by the beginnings of the JUnit files' names. */
const PARTS = ["pure", "unit", "cluster"] as const;

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Runs `tests/run.ts WHAT`, which leaves JUnit files in `folder`. Failing tests do not stop us: the page tells. */
async function runTests(what: "unit" | "cluster", folder: string): Promise<void> {
  print(`Running the ${what} tests…`);
  const args = ["run", "-A", join(ROOT, "tests/run.ts"), what];
  const env = { ARCHWAY_JUNIT_DIR: folder };
  await new Deno.Command(Deno.execPath(), { args, cwd: ROOT, env, stdin: "null" }).spawn().status;
}

async function runAll(folder: string): Promise<void> {
  const missing = await missingForControlPlane();
  if (missing !== undefined) throw new Error(`Cannot run the cluster tests, which prove many rows: ${missing}`);
  await runTests("unit", folder);
  await runTests("cluster", folder);
}

async function readRun(folder: string): Promise<readonly RanTest[]> {
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).filter((n) => n.endsWith(".xml"));
  const missing = PARTS.filter((part) => !names.some((name) => name.startsWith(part)));
  if (missing.length > 0) {
    throw new Error(
      `Cannot count from "${folder}": it has no JUnit file of the part ${missing.join(", ")}. Run that part first.`,
    );
  }
  const files = await Promise.all(names.sort().map((name) => Deno.readTextFile(join(folder, name))));
  return files.flatMap(parseJunit);
}

/** Answers whether no row fails. */
async function writePage(folder: string): Promise<boolean> {
  const verdicts = judge(ROWS, { tests: await readRun(folder), reasons: REASONS });
  const page = renderPage(verdicts);
  await Deno.writeTextFile(PAGE, page);
  const failing = verdicts.filter(isFailing);
  for (const { row, note } of failing) print(`${row.id}: ${note}`);
  print(page.trimEnd().split("\n").at(-1) ?? "");
  return failing.length === 0;
}

/** A row that has a test or names one, and yet is not passed. */
function isFailing({ status, note }: Verdict): boolean {
  return status === "not yet" && /^(?:fails|no such test): /.test(note);
}

async function main(args: readonly string[]): Promise<number> {
  const [flag, given, ...rest] = args;
  if (flag === "--from" && given !== undefined && rest.length === 0) return await writePage(given) ? 0 : 1;
  if (flag !== undefined) {
    print(USAGE);
    return flag === "--help" ? 0 : 2;
  }
  const folder = await Deno.makeTempDir({ prefix: "archway-junit-" });
  try {
    await runAll(folder);
    return await writePage(folder) ? 0 : 1;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const code = await main(Deno.args).catch((error: unknown) => {
    print(error instanceof Error ? error.message : String(error));
    return 3;
  });
  Deno.exit(code);
}
