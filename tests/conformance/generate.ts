// `deno task conformance [FOLDER]`: runs the tests, or takes the JUnit files of a run from FOLDER, and writes the page.
import { join } from "node:path";
import { missingForControlPlane } from "../cluster/support/binaries.ts";
import { parseJunit, type RanTest } from "./junit.ts";
import { REASONS } from "./reasons.ts";
import { judge, renderPage } from "./report.ts";
import { ROWS } from "./rows.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const PAGE = join(ROOT, "tests/conformance.md");

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Runs `tests/run.ts WHAT`, which leaves JUnit files in `folder`. Failing tests do not stop us: the page tells. */
async function runTests(what: string, folder: string): Promise<void> {
  const args = ["run", "-A", join(ROOT, "tests/run.ts"), what];
  const env = { ARCHWAY_JUNIT_DIR: folder };
  const child = new Deno.Command(Deno.execPath(), { args, cwd: ROOT, env, stdin: "null", stdout: "null" }).spawn();
  await child.status;
}

async function runAll(folder: string): Promise<void> {
  await runTests("unit", folder);
  for (const part of ["pure", "shell"]) {
    await Deno.stat(join(folder, `${part}.xml`)).catch((cause: unknown) => {
      throw new Error("Cannot count: the unit tests did not run to their end. Run `deno task test:unit` to see why.", {
        cause,
      });
    });
  }
  const missing = await missingForControlPlane();
  if (missing === undefined) await runTests("cluster", folder);
  else print(`Rows that only cluster tests prove count as not yet: ${missing}`);
}

async function readRun(folder: string): Promise<readonly RanTest[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) if (name.endsWith(".xml")) names.push(name);
  const files = await Promise.all(names.sort().map((name) => Deno.readTextFile(join(folder, name))));
  return files.flatMap(parseJunit);
}

async function main(given: string | undefined): Promise<void> {
  const folder = given ?? await Deno.makeTempDir({ prefix: "archway-junit-" });
  try {
    if (given === undefined) await runAll(folder);
    const page = renderPage(judge(ROWS, { tests: await readRun(folder), reasons: REASONS }));
    await Deno.writeTextFile(PAGE, page);
    print(page.trimEnd().split("\n").at(-1) ?? "");
  } finally {
    if (given === undefined) await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) await main(Deno.args[0]);
