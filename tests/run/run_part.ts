// Runs one part of the tests as a process, shows its output as it comes, and counts by its JUnit file.
import { parseJunit } from "../conformance/junit.ts";
import type { Part } from "./parts.ts";

/** What a part came to. */
export interface PartResult {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  /** Names of the tests and steps that were skipped. */
  readonly skipped: readonly string[];
  readonly seconds: number;
}

/** How to run it. */
export interface PartOptions {
  /** What precedes `test` flags: `["test"]`, or `["run", "-A", SCRIPT]` for a script that passes them on. */
  readonly command: readonly string[];
  /** Where its JUnit file goes. */
  readonly junit: string;
  /** Arguments of the user, such as `--filter`. */
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const NO_COUNTS = { passed: 0, failed: 1, skipped: [] };

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

/** Runs it. A process that ends without a JUnit file counts as one failure. */
export async function runPart(part: Part, options: PartOptions): Promise<PartResult> {
  const startedMs = performance.now();
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: renderArguments(part, options),
    env: { ...options.environment, NO_COLOR: "1", DENO_JOBS: String(part.jobs) },
    stdin: "null",
  }).spawn().status;
  const counts = await readCounts(options.junit);
  return {
    name: part.name,
    ...counts,
    failed: success ? counts.failed : Math.max(1, counts.failed),
    seconds: Math.round((performance.now() - startedMs) / 1_000),
  };
}

async function readCounts(junit: string): Promise<Pick<PartResult, "passed" | "failed" | "skipped">> {
  try {
    const tests = parseJunit(await Deno.readTextFile(junit)).filter(({ isStep, outcome }) =>
      !isStep || outcome === "ignored"
    );
    return {
      passed: tests.filter(({ outcome }) => outcome === "passed").length,
      failed: tests.filter(({ outcome }) => outcome === "failed").length,
      skipped: tests.filter(({ outcome }) => outcome === "ignored").map(({ name }) => name),
    };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return NO_COUNTS;
    throw error;
  }
}
