// `archway index`: joins images of one architecture each to one index in a registry, and shows what an index lists.
import { assembleIndex } from "../publishing/assemble/assemble_index.ts";
import { inspectIndex, listIndex } from "../publishing/assemble/inspect_index.ts";
import { Repositories } from "../oci/repositories.ts";
import type { Config } from "../config/parse.ts";
import { indexTarget, type IndexVerb } from "../config/positionals.ts";
import { openRegistryAccess, type RegistryConfig } from "../oci/registry_access.ts";
import {
  besideImages,
  lossesOf,
  renderAssembled,
  renderIndex,
  sentencesOf,
  toAssembled,
  toInspectedIndex,
} from "./index_text.ts";
import type { AssembleProblem } from "../publishing/assemble/problem.ts";
import type { Annotations } from "../publishing/decide/plan_index.ts";
import { type CommandDeps, ExitCode, print, terminalLogger } from "./output.ts";
import { ProgressLine, renderProgress } from "./progress_line.ts";

type IndexConfig = RegistryConfig & Pick<Config, "positionals" | "to" | "annotation" | "dryRun" | "output">;

interface IndexDeps extends CommandDeps {
  readonly showsProgress: boolean;
}

/** Returns the exit code: 1 when the answer is no for good, 3 when trying again may help. */
export async function runIndex(config: IndexConfig, deps: IndexDeps): Promise<number> {
  const { terminal, clock, signal } = deps;
  const log = terminalLogger(terminal);
  const options = { config, ...deps, log, clusterCredentials: () => [], audience: "caller" } as const;
  using access = openRegistryAccess(options);
  const repositories = new Repositories({ access, clock, signal });
  const { verb, images } = indexTarget(config.positionals) ?? { verb: "inspect", images: config.positionals } as const;
  try {
    return verb === "inspect"
      ? await inspect({ ...config, images }, { ...deps, repositories })
      : await publish(verb, { ...config, images }, { ...deps, repositories });
  } catch (error) {
    if (!signal.aborted) throw error;
    terminal.err(`archway: Stopped.${verb === "inspect" ? "" : ` ${STOPPED}`}\n`);
    return ExitCode.failed;
  }
}

const STOPPED = "Unless the last step had begun, the tag is as it was; run the command again to go on.";

type IndexArguments = IndexConfig & { readonly images: readonly string[] };
type RepositoryDeps = IndexDeps & { readonly repositories: Repositories };

async function publish(verb: IndexVerb, args: IndexArguments, deps: RepositoryDeps): Promise<number> {
  const { to: given, annotation, dryRun, output } = args;
  const { terminal, repositories, showsProgress, clock } = deps;
  const line = new ProgressLine({ write: showsProgress ? terminal.err : () => {}, clock });
  const [first = args.images[0] ?? "", ...others] = given;
  const wanted = await wantedOf(verb, args, deps);
  const annotations = Object.fromEntries(annotation.map((text) => {
    const at = text.indexOf("=");
    return [text.slice(0, at), text.slice(at + 1)];
  }));
  try {
    const results = wanted.kind === "failed" ? [{ ...wanted, isTagWritten: false }] : await assembleIndex({
      ...wanted,
      to: [first, ...others],
      mode: dryRun ? "plan" : "publish",
      form: "index",
      annotations: { ...wanted.annotations, ...annotations },
    }, { ...deps, onProgress: (progress) => line.show(renderProgress(progress)) });
    line.clear();
    const assembled = results.map((result, at) =>
      toAssembled(result, { target: [first, ...others][at] ?? first, requests: repositories.requests })
    );
    const isShown = output !== "table" || results.some(({ kind }) => kind !== "failed");
    const document = assembled.length === 1 ? assembled[0] : assembled;
    if (isShown) print(terminal, output, { document, text: (width) => renderAssembled(assembled, width) });
    const losses = wanted.kind === "failed" ? [] : wanted.losses;
    const sentences = assembled.flatMap((one) => one.outcome === "failed" ? sentencesOf(one) : lossesOf(one));
    for (const sentence of new Set([...losses, ...sentences])) terminal.err(`archway: ${sentence}\n`);
    const problems = results.flatMap((result) => result.kind === "failed" ? result.problems : []);
    return problems.length === 0 ? ExitCode.done : exitCodeOf(problems);
  } finally {
    line.clear();
  }
}

type WantedIndex =
  | {
    readonly kind: "wanted";
    readonly images: readonly string[];
    readonly replaceable: readonly string[];
    readonly annotations: Annotations;
    readonly losses: readonly string[];
  }
  | { readonly kind: "failed"; readonly problems: readonly AssembleProblem[] };

/** The images that go into the index. Append and remove start from the images that it lists now. */
async function wantedOf(verb: IndexVerb, { images: args }: IndexArguments, deps: RepositoryDeps): Promise<WantedIndex> {
  if (verb === "assemble") return { kind: "wanted", images: args, replaceable: [], annotations: {}, losses: [] };
  const [index = "", ...others] = args;
  const listed = await listIndex(index, deps);
  if (listed.kind === "failed") return { kind: "failed", problems: [listed.problem] };
  const { annotations, leftOut } = listed;
  const isOf = (platform: string, word: string): boolean => platform === word || platform.startsWith(`${word}/`);
  const [added, removed] = verb === "append" ? [others, []] : [[], others];
  const absent = removed.filter((word) => !listed.images.some((one) => isOf(one.platform, word)));
  const kept = listed.images.filter(({ platform }) => !removed.some((word) => isOf(platform, word)));
  if (absent.length > 0 || kept.length === 0) {
    const has = listed.images.map(({ platform }) => platform).join(", ");
    const message = absent.length > 0
      ? `Cannot remove ${absent.join(", ")} from "${index}": it has ${has}.`
      : `Cannot remove all platforms of "${index}": delete the tag instead.`;
    return { kind: "failed", problems: [{ kind: "permanent", reason: "NoPlatform", message }] };
  }
  const replaceable = kept.map(({ image }) => image);
  const losses = leftOut.length === 0 ? [] : [besideImages(index, leftOut)];
  return { kind: "wanted", images: [...replaceable, ...added], replaceable, annotations, losses };
}

async function inspect({ images: [image = ""], output }: IndexArguments, deps: RepositoryDeps): Promise<number> {
  const { terminal, signal, repositories } = deps;
  const result = await inspectIndex(image, { repositories, signal });
  const inspected = toInspectedIndex(result, { image, requests: repositories.requests });
  if (result.kind !== "failed" || output !== "table") {
    print(terminal, output, { document: inspected, text: (width) => renderIndex(inspected, width) });
  }
  if (result.kind === "failed") {
    terminal.err(`archway: ${result.problem.message}\n`);
    return exitCodeOf([result.problem]);
  }
  return result.entries.every(({ findings }) => findings.length === 0) ? ExitCode.done : ExitCode.no;
}

/** Tells scripts whether another try may help: only if a problem is transient. */
function exitCodeOf(problems: readonly { readonly kind: "permanent" | "transient" }[]): number {
  return problems.some(({ kind }) => kind === "transient") ? ExitCode.failed : ExitCode.no;
}
