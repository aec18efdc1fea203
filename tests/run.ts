// Runs the tests and ends with one line of counts: `deno run -A tests/run.ts all|unit|cluster|node|long [--strict] [deno test arguments]`.
// Files and folders among the arguments narrow the run. --strict fails when a test is skipped that tests/run/skips.ts does not
// list, or a part is left out for want of a control plane. ARCHWAY_JUNIT_DIR=FOLDER keeps the JUnit files, and of a complete run what it was
// of, for `deno task conformance --from FOLDER`.
import { dirname, join, relative } from "node:path";
import { findDenokv } from "./cluster/support/denokv.ts";
import { ensureBinaries, missingForControlPlane } from "./cluster/support/binaries.ts";
import { finishPart, type FirstRun, type PartResult, runPart } from "./run/run_part.ts";
import { arrange, clusterParts, isOnNodes, narrow, type Part, PARTS } from "./run/parts.ts";
import { aboutRun } from "./run/about.ts";
import { ALLOWED_SKIPS, countFailed, judgeSkip } from "./run/skips.ts";
import { ABOUT_FILE } from "./conformance/run_record.ts";
import { bundle } from "../manifests/image/compile.ts";
import { BUNDLE_VARIABLE } from "./support/archway_program.ts";
import { lacks } from "./support/needs.ts";
import { print } from "./support/print.ts";
import { temporaryFolder } from "./support/temporary_folder.ts";

/** The scripts that start what the tests of a part share, and then run them. */
const READY_PLANES = "tests/cluster/support/run.ts";
const SHARED_NODES = "tests/node/support/run.ts";

const RUNS = ["all", "unit", "cluster", "node", "long"] as const;

interface Wanted {
  readonly what: (typeof RUNS)[number];
  readonly isStrict: boolean;
  readonly chosen: readonly string[];
  readonly flags: readonly string[];
}

/** Undefined where the first argument names no run. */
function parseArguments([first, ...rest]: readonly string[]): Wanted | undefined {
  const what = RUNS.find((run) => run === first);
  if (what === undefined) return undefined;
  const words = rest.map((word) => word.startsWith(`${Deno.cwd()}/`) ? relative(Deno.cwd(), word) : word);
  const isPath = (word: string): boolean => /^(?:\.\/)?tests(?:\/|$)/.test(word);
  const chosen = words.filter(isPath).map((path) => path.replace(/^\.\//, "").replace(/\/+$/, ""));
  const flags = words.filter((word) => word !== "--strict" && !isPath(word));
  return { what, isStrict: words.includes("--strict"), chosen, flags };
}

function isUnit({ name }: Part): boolean {
  return PARTS.unit.some((part) => part.name === name);
}

/** A narrowed run's has its files in its name, so that runs file by file add up to a whole one. File systems take 255 bytes. */
function junitFile(folder: string, part: Part, { chosen }: Wanted): string {
  const files = chosen.length === 0 ? [] : part.paths.map((path) => path.split("/").at(-1));
  return join(folder, `${[part.name, ...files].join("-").slice(0, 200)}.xml`);
}

async function listClusterFiles(): Promise<readonly string[]> {
  const names = (await Array.fromAsync(Deno.readDir("tests/cluster"))).map(({ name }) => name);
  return names.filter((name) => name.endsWith("_test.ts")).sort().map((name) => `tests/cluster/${name}`);
}

/** Builds what the tests beyond the units run, and puts the control plane's own kubectl first on the PATH of all of them. */
async function prepareTools(parts: readonly Part[], folder: string): Promise<Readonly<Record<string, string>>> {
  // Nodes run it from its image.
  const needsBundle = parts.some((part) => !isUnit(part) && !isOnNodes(part));
  if (needsBundle) await bundle(folder);
  if (!lacks("denokv")) await findDenokv();
  const { kubectl } = await ensureBinaries();
  const path = `${dirname(kubectl)}:${Deno.env.get("PATH") ?? ""}`;
  Deno.env.set("PATH", path);
  return { PATH: path, ...needsBundle ? { [BUNDLE_VARIABLE]: join(folder, "main.js") } : {} };
}

/** Where nodes cannot run, their tests are skipped by name. */
function commandOf(part: Part): readonly string[] {
  if (part.planes > 0) return ["run", "-A", READY_PLANES, `--planes=${part.planes}`];
  return isOnNodes(part) && !lacks("nodes") ? ["run", "-A", SHARED_NODES] : ["test"];
}

async function runParts(parts: readonly Part[], wanted: Wanted): Promise<readonly PartResult[]> {
  await using temporary = await temporaryFolder();
  const environment = parts.every(isUnit) ? {} : await prepareTools(parts, join(temporary.path, "bundle"));
  const folder = Deno.env.get("ARCHWAY_JUNIT_DIR") ?? temporary.path;
  const firsts: FirstRun[] = [];
  const runLane = async (lane: readonly Part[], printer: (part: Part) => (line: string) => void): Promise<void> => {
    for (const part of lane) {
      const [command, junit] = [commandOf(part), junitFile(folder, part, wanted)];
      const options = { command, junit, environment, flags: wanted.flags, print: printer(part) };
      firsts.push(await runPart(part, options));
    }
  };
  for (const lanes of arrange(parts)) {
    // Lines of parts that run side by side begin with the part's name.
    const printer = ({ name }: Part) => (line: string): void => print(lanes.length > 1 ? `${name}| ${line}` : line);
    await Promise.all(lanes.map((lane) => runLane(lane, printer)));
  }
  const results: PartResult[] = [];
  for (const first of firsts) results.push(await finishPart(first, print));
  return results;
}

async function chooseParts({ what, chosen }: Wanted): Promise<readonly Part[]> {
  const beyond = [PARTS.tools, ...clusterParts(await listClusterFiles())];
  const byName: Readonly<Record<Wanted["what"], readonly Part[]>> = {
    all: [...PARTS.unit, ...beyond, PARTS.node, ...chosen.length > 0 ? [...PARTS.long, PARTS.nodeLong] : []],
    unit: PARTS.unit,
    // Who names a file wants it, however long it takes.
    cluster: chosen.length > 0 ? [...beyond, ...PARTS.long] : beyond,
    node: chosen.length > 0 ? [PARTS.node, PARTS.nodeLong] : [PARTS.node],
    long: [...PARTS.long, PARTS.large, PARTS.nodeLong],
  };
  return byName[what].flatMap((part) => narrow(part, chosen) ?? []);
}

/** Why a file or folder is not run. */
async function explainUnknown(path: string, { what }: Wanted): Promise<string> {
  const every = await chooseParts({ what: "all", isStrict: false, chosen: [path], flags: [] });
  const [part] = every;
  if (part === undefined) return `Cannot run ${path}: there is no such file or folder of tests`;
  const task = isUnit(part) ? "unit" : isOnNodes(part) ? "node" : "cluster";
  return `Cannot run ${path} in "${what}": run deno task test:${task} ${path}`;
}

/** Prints what was skipped, and answers how many of those may not be in a strict run. */
function reportSkips(results: readonly PartResult[], { isStrict }: Wanted): number {
  const verdicts = results.flatMap(({ skipped }) => skipped)
    .map((test) => judgeSkip(test, { allowed: ALLOWED_SKIPS, lacks }));
  for (const verdict of verdicts) {
    const why = verdict.kind === "allowed" ? verdict.reason : "something it needs is missing";
    print(`skipped: ${verdict.test} (${why})`);
  }
  const forbidden = verdicts.filter(({ kind }) => kind === "forbidden");
  if (isStrict) { for (const { test } of forbidden) print(`may not be skipped here: ${test}`); }
  return forbidden.length;
}

/** Of a complete run alone: what it was of, beside its JUnit files. */
async function keepAbout(wanted: Wanted, results: readonly PartResult[], left: readonly string[]): Promise<void> {
  const folder = Deno.env.get("ARCHWAY_JUNIT_DIR");
  const isWhole = wanted.what === "all" && wanted.chosen.length + wanted.flags.length + left.length === 0;
  if (folder !== undefined && isWhole) await Deno.writeTextFile(join(folder, ABOUT_FILE), await aboutRun(results));
}

async function main(args: readonly string[]): Promise<number> {
  const wanted = parseArguments(args);
  if (wanted === undefined) {
    print(`Say first which tests to run: ${RUNS.join(", ")}.`);
    return 2;
  }
  const missing = wanted.what === "unit" ? undefined : await missingForControlPlane();
  if (missing !== undefined && wanted.what === "cluster") {
    print(`Cannot run the cluster tests: ${missing} A file that needs no control plane runs by deno test -A FILE.`);
    print("0 passed, 1 failed, 0 skipped");
    return 1;
  }
  const parts = await chooseParts(wanted);
  const unknown = wanted.chosen.filter((path) => parts.every((part) => narrow(part, [path]) === undefined));
  if (unknown.length > 0) {
    for (const path of unknown) print(await explainUnknown(path, wanted));
    print(`0 passed, ${unknown.length} failed, 0 skipped`);
    return 1;
  }
  const possible = parts.filter((part) => missing === undefined || isUnit(part));
  const left = parts.filter((part) => !possible.includes(part)).flatMap(({ paths }) => paths);
  const results = await runParts(possible, wanted);
  for (const { name, passed, failed, skipped, seconds } of results) {
    print(`${name}: ${passed} passed, ${failed} failed, ${skipped.length} skipped in ${seconds} s`);
  }
  for (const file of results.flatMap(({ again }) => again)) print(`run twice: ${file} (it failed beside others)`);
  for (const path of left) print(`skipped: ${path} (no control plane: ${missing})`);
  const forbidden = reportSkips(results, wanted);
  await keepAbout(wanted, results, left);
  const sum = (count: (result: PartResult) => number): number =>
    results.reduce((total, part) => total + count(part), 0);
  const failed = countFailed({ failed: sum((part) => part.failed), forbidden, left: left.length }, wanted);
  const skipped = left.length + sum((part) => part.skipped.length);
  print(`${sum((part) => part.passed)} passed, ${failed} failed, ${skipped} skipped`);
  return failed > 0 ? 1 : 0;
}

Deno.exit(await main(Deno.args));
