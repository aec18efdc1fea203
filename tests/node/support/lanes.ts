// All test files of the nodes, in lanes: labs side by side, each with a control plane and nodes of its own, since most files have
// the whole cluster to themselves and wait most of the time. Each lane is run.ts once more with some of the files.
import { printLines } from "../../run/run_part.ts";
import { STORAGE_VARIABLE, writeStorage } from "./archway_images.ts";
import { LAB_NAME_VARIABLE, labName } from "./node_host.ts";

const FOLDER = "tests/node";
const JUNIT = "--junit-path=";
const IGNORE = "--ignore=";
const BUILDER = new URL("archway_images.ts", import.meta.url).pathname;
/** Name of the environment variable of a lane: where images are kept, as {@link STORAGE_VARIABLE}. */
export const LANE_VARIABLE = "ARCHWAY_TEST_NODES_LANE";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Files of the first lane: what is held to times, one after the other, and what makes both lanes take as long. */
const FIRST = /\/(?:enoexec|image_builds|install)_test\.ts$/;

/** Arguments of `deno test`, files among them. */
type Lane = readonly string[];

interface LanesOptions {
  readonly directory: string;
  readonly script: string;
}

/** The storage that the lanes share; undefined when this is none of them. */
export function sharedStorage(): string | undefined {
  return Deno.env.get(LANE_VARIABLE) || undefined;
}

export function isLane(): boolean {
  return sharedStorage() !== undefined;
}

/** The lanes for these arguments: one when they name files, a shell or a benchmark. */
export async function planLanes(args: Lane): Promise<readonly Lane[]> {
  const flags = args.filter((argument) => argument.startsWith("-"));
  const isWhole = args.every((argument) => flags.includes(argument) || argument === FOLDER);
  if (!isWhole || isLane()) return [args];
  const ignored = flags.flatMap((flag) => flag.startsWith(IGNORE) ? flag.slice(IGNORE.length).split(",") : []);
  const names = (await Array.fromAsync(Deno.readDir(FOLDER))).map(({ name }) => `${FOLDER}/${name}`);
  const files = names.filter((name) => name.endsWith("_test.ts") && !ignored.includes(name)).sort();
  const first = files.filter((file) => FIRST.test(file));
  return [first, files.filter((file) => !first.includes(file))].map((lane, at) => [
    ...flags.map((flag) => flag.startsWith(JUNIT) ? `${flag}.${at + 1}` : flag),
    ...lane,
  ]);
}

/** Runs them side by side, and builds the images meanwhile. Gives the greatest exit code. */
export async function runLanes(lanes: readonly Lane[], { directory, script }: LanesOptions): Promise<number> {
  const storage = await writeStorage(directory);
  const builder = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", BUILDER],
    env: { [STORAGE_VARIABLE]: storage },
    ...{ stdin: "null", stdout: "null", stderr: "null" } as const,
  }).spawn();
  const codes = await Promise.all(lanes.map((lane, at) => runLane(lane, { script, storage, number: at + 1 })));
  end(builder);
  await builder.status;
  await mergeJunitFiles(lanes);
  return Math.max(...codes);
}

async function runLane(
  args: Lane,
  { script, storage, number }: { readonly script: string; readonly storage: string; readonly number: number },
): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", script, ...args],
    env: { [LAB_NAME_VARIABLE]: `${labName()}${number}`, [LANE_VARIABLE]: storage },
    ...{ stdin: "null", stdout: "piped", stderr: "piped" } as const,
  }).spawn();
  const pass = (): void => end(child);
  for (const signal of SIGNALS) Deno.addSignalListener(signal, pass);
  const print = (line: string): void => {
    Deno.stdout.writeSync(new TextEncoder().encode(`${number}| ${line}\n`));
  };
  const printed = [child.stdout, child.stderr].map((stream) => printLines(stream, print));
  const { code } = await child.status.finally(() => {
    for (const signal of SIGNALS) Deno.removeSignalListener(signal, pass);
  });
  await Promise.all(printed);
  return code;
}

function end(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGTERM");
  } catch {
    // It has ended.
  }
}

async function mergeJunitFiles(lanes: readonly Lane[]): Promise<void> {
  const files = lanes.flatMap((lane) =>
    lane.filter((flag) => flag.startsWith(JUNIT)).map((flag) => flag.slice(JUNIT.length))
  );
  const [first] = files;
  if (first === undefined) return;
  const documents = await Promise.all(files.map((file) => Deno.readTextFile(file).catch(() => "")));
  await Deno.writeTextFile(first.replace(/\.1$/, ""), mergeJunit(documents));
  for (const file of files) await Deno.remove(file).catch(() => undefined);
}

/** One JUnit document with the suites of all; an empty one is of a lane that wrote none. Pure. */
export function mergeJunit(documents: readonly string[]): string {
  const suites = documents.flatMap((document) => document.match(/^ *<testsuite\b[\s\S]*?<\/testsuite>\n/gm) ?? []);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="deno test">\n${suites.join("")}</testsuites>\n`;
}
