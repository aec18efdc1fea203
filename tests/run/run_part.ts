// Runs one part of the tests as a process, shows its output line by line as it comes, and counts by its JUnit file.
import { parseJunit, type RanTest } from "../conformance/junit.ts";
import { filesToRunAgain, replaceFiles } from "./again.ts";
import { listTestFiles, writeIsolates } from "./isolates.ts";
import { FORM_VARIABLE } from "../support/form.ts";
import type { Part } from "./parts.ts";

export interface PartResult {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly string[];
  readonly again: readonly string[];
  readonly seconds: number;
}

export interface PartOptions {
  /** What precedes `test` flags: `["test"]`, or `["run", "-A", SCRIPT]` for a script that passes them on. */
  readonly command: readonly string[];
  readonly junit: string;
  /** Arguments of the user, such as `--filter`. */
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly print: (line: string) => void;
}

/** One process: its exit code alone fails it when there is no JUnit file. */
interface Run {
  readonly isSuccess: boolean;
  readonly tests: readonly RanTest[];
}

export interface FirstRun extends Run {
  readonly part: Part;
  readonly options: PartOptions;
  readonly seconds: number;
}

function renderArguments(part: Part, { command, junit, flags }: PartOptions): string[] {
  return [
    ...command,
    ...["--quiet", "--no-prompt", "--no-check", `--junit-path=${junit}`],
    ...part.jobs > 1 ? ["--parallel"] : [],
    ...part.permissions === "all" ? ["--allow-all"] : [],
    ...part.ignored.length > 0 ? [`--ignore=${part.ignored.join(",")}`] : [],
    ...flags,
    ...part.paths,
  ];
}

async function run(part: Part, options: PartOptions): Promise<Run> {
  if (part.isolates === 0) return await runPaths(part, options);
  await using isolates = await writeIsolates(part);
  // The modules stand outside of the repository, and what they import in it.
  const flags = ["--config=deno.json", ...options.flags];
  return await runPaths({ ...part, paths: isolates.paths, ignored: [] }, { ...options, flags });
}

async function runPaths(part: Part, options: PartOptions): Promise<Run> {
  const child = new Deno.Command("nice", {
    args: ["-n", String(part.niceness), Deno.execPath(), ...renderArguments(part, options)],
    env: { ...options.environment, NO_COLOR: "1", DENO_JOBS: String(part.jobs), [FORM_VARIABLE]: part.form },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [{ success }] = await Promise.all([
    child.status,
    ...[child.stdout, child.stderr].map((stream) => printLines(stream, options.print)),
  ]);
  return { isSuccess: success, tests: await readTests(options.junit) };
}

export async function runPart(part: Part, options: PartOptions): Promise<FirstRun> {
  const startedMs = performance.now();
  const result = await run(part, options);
  return { ...result, part, options, seconds: Math.round((performance.now() - startedMs) / 1_000) };
}

/**
 * Runs what {@link filesToRunAgain} names once more, and counts. Nothing else may run meanwhile. A process that ended without
 * a JUnit file counts as one failure.
 */
export async function finishPart(first: FirstRun, print: (line: string) => void): Promise<PartResult> {
  const { part } = first;
  const startedMs = performance.now();
  const again = first.isSuccess ? [] : filesToRunAgain(part, { tests: first.tests, files: expectedFiles(first) });
  const last = again.length === 0 ? first : await runFilesAgain({ ...first, again, print });
  const counted = last.tests.filter(({ isStep, outcome }) => !isStep || outcome === "ignored");
  const failed = counted.filter(({ outcome }) => outcome === "failed").length;
  return {
    name: part.name,
    passed: counted.filter(({ outcome }) => outcome === "passed").length,
    failed: last.isSuccess ? failed : Math.max(1, failed),
    skipped: counted.filter(({ outcome }) => outcome === "ignored").map(({ name }) => name),
    again,
    seconds: first.seconds + Math.round((performance.now() - startedMs) / 1_000),
  };
}

/** Those of which tests must be known, unless flags of the user leave them out; a helper's count as its own. */
function expectedFiles({ part, options }: FirstRun): readonly string[] {
  if (options.flags.length > 0) return [];
  return listTestFiles(part).filter((file) => Deno.readTextFileSync(file).includes("Deno.test"));
}

async function runFilesAgain(
  { part, options, tests, again, print }: FirstRun & {
    readonly again: readonly string[];
    readonly print: (line: string) => void;
  },
): Promise<Run> {
  const junit = options.junit.replace(/\.xml$/, "-again.xml");
  const second = await run({ ...part, paths: again, ignored: [], jobs: 1, isolates: 0 }, { ...options, junit, print });
  return { isSuccess: second.isSuccess, tests: replaceFiles(tests, second.tests) };
}

export async function printLines(stream: ReadableStream<Uint8Array>, print: (line: string) => void): Promise<void> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) print(line);
  }
  if (rest !== "") print(rest);
}

async function readTests(junit: string): Promise<readonly RanTest[]> {
  try {
    return parseJunit(await Deno.readTextFile(junit));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
