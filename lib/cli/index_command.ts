// `archway index`: joins images of one architecture each to one index in a registry, without a container engine, and shows
// what an index lists.
import type { Clock } from "../clock.ts";
import { assembleIndex } from "../images/assemble/assemble_index.ts";
import { inspectIndex } from "../images/assemble/inspect_index.ts";
import { Repositories } from "../oci/repositories.ts";
import { indexTarget } from "../config/words.ts";
import { openRegistryAccess, type RegistryConfig } from "../oci/registry_access.ts";
import { lossesOf, renderAssembled, renderIndex, sentencesOf, toAssembled, toInspectedIndex } from "./index_text.ts";
import { ExitCode, type OutputForm, type Terminal, terminalLogger } from "./output.ts";
import { ProgressLine } from "./progress_line.ts";

interface IndexConfig extends RegistryConfig {
  readonly words: readonly string[];
  readonly to?: string | undefined;
  readonly dryRun: boolean;
  readonly output: OutputForm;
}

interface IndexDeps {
  /** The result goes to `out`; progress, and what is wrong in sentences, to `err`. */
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly signal: AbortSignal;
  /** Whether `err` is a terminal, where a line can be written over. */
  readonly showsProgress: boolean;
}

/** Runs it; answers the exit code: 1 when the answer is no for good, 3 when trying again may help. */
export async function runIndex(config: IndexConfig, deps: IndexDeps): Promise<number> {
  const { terminal, clock, signal } = deps;
  const log = terminalLogger(terminal);
  using access = openRegistryAccess({ config, clock, log, userAgent: deps.userAgent, clusterCredentials: () => [] });
  const repositories = new Repositories({ access, clock, signal });
  const { verb, images } = indexTarget(config.words) ?? { verb: "inspect", images: config.words } as const;
  try {
    return verb === "assemble"
      ? await assemble({ ...config, images }, { ...deps, repositories })
      : await inspect({ ...config, images }, { ...deps, repositories });
  } catch (error) {
    if (!signal.aborted) throw error;
    terminal.err(`archway: Stopped.${verb === "assemble" ? ` ${STOPPED}` : ""}\n`);
    return ExitCode.failed;
  }
}

const STOPPED = "Unless the last step had begun, the tag is as it was; run the command again to go on.";

type Words = IndexConfig & { readonly images: readonly string[] };
type Deps = IndexDeps & { readonly repositories: Repositories };

async function assemble({ to = "", images, dryRun, output }: Words, deps: Deps): Promise<number> {
  const { terminal, clock, signal, repositories, showsProgress } = deps;
  const line = new ProgressLine({ write: showsProgress ? terminal.err : () => {}, clock });
  try {
    const result = await assembleIndex({ to, images, mode: dryRun ? "plan" : "publish", form: "index" }, {
      repositories,
      clock,
      signal,
      onProgress: (progress) => line.show(progress),
    });
    line.clear();
    const assembled = toAssembled(result, { target: to, requests: repositories.requests });
    if (result.kind !== "failed" || output !== "table") terminal.out(renderAssembled(assembled, output));
    const sentences = result.kind === "failed" ? sentencesOf(assembled) : lossesOf(assembled);
    for (const sentence of sentences) terminal.err(`archway: ${sentence}\n`);
    return result.kind === "failed" ? exitCodeOf(result.problems) : ExitCode.done;
  } finally {
    line.clear();
  }
}

async function inspect({ images: [image = ""], output }: Words, deps: Deps): Promise<number> {
  const { terminal, signal, repositories } = deps;
  const result = await inspectIndex(image, { repositories, signal });
  const inspected = toInspectedIndex(result, { image, requests: repositories.requests });
  if (result.kind !== "failed" || output !== "table") terminal.out(renderIndex(inspected, output));
  if (result.kind === "failed") {
    terminal.err(`archway: ${result.problem.message}\n`);
    return exitCodeOf([result.problem]);
  }
  return result.entries.every(({ findings }) => findings.length === 0) ? ExitCode.done : ExitCode.no;
}

/** Scripts that try again only what may pass need to distinguish the two. */
function exitCodeOf(problems: readonly { readonly kind: "permanent" | "transient" }[]): number {
  return problems.some(({ kind }) => kind === "transient") ? ExitCode.failed : ExitCode.no;
}
