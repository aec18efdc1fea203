// `deno task compile`: one executable, or with --form=bundle its script and chunks, in dist/.
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as z from "zod";
import { print, ROOT, runTask } from "../tool.ts";

const USAGE = `\
Makes one executable for this machine, or the scripts that it is made of, in dist/.

Usage: deno task compile [flags]

  --form binary|bundle    bundle: main.js and its chunks, which need a runtime; default binary

  DENORT_BIN=FILE         base of the executable, where dl.deno.land cannot be reached

Exit codes: 0 done, 1 failed.
`;

/** What is built. `binary` stands alone; `bundle` needs the runtime beside it; `daemon` is a bundle with bpftrace. */
export type Form = "binary" | "bundle" | "daemon";

const TARGETS = { amd64: "x86_64", arm64: "aarch64" } as const;

const SYSTEMS = { linux: "unknown-linux-gnu", darwin: "apple-darwin" } as const;

export type ImageArchitecture = keyof typeof TARGETS;

/** A permission set of deno.json: `serve` runs no other program, `plugins` any, `daemon` bpftrace. */
export type PermissionSet = "serve" | "plugins" | "daemon";

const GRANT = z.union([z.boolean(), z.array(z.string())]);
const GRANTS = z.record(z.string(), GRANT);
const CONFIGURATION = z.object({ permissions: z.object({ serve: GRANTS, plugins: GRANTS, daemon: GRANTS }) });

export async function readPermissions(set: PermissionSet): Promise<Readonly<Record<string, z.infer<typeof GRANT>>>> {
  const text = await Deno.readTextFile(join(ROOT, "deno.json"));
  return CONFIGURATION.parse(JSON.parse(text)).permissions[set];
}

/** The flags that fix a permission set in an executable; the program never prompts. Pure. */
export function renderPermissions(grants: Readonly<Record<string, z.infer<typeof GRANT>>>): readonly string[] {
  const flags = Object.entries(grants).flatMap(([kind, grant]) => {
    if (grant === false) return [];
    return [grant === true ? `--allow-${kind}` : `--allow-${kind}=${grant.join()}`];
  });
  return ["--no-prompt", ...flags];
}

interface CompileOptions {
  readonly entry: string;
  readonly output: string;
  readonly architecture?: ImageArchitecture;
  /** With an architecture; Linux when it is left out. */
  readonly os?: keyof typeof SYSTEMS;
  readonly permissions: readonly string[];
  /** Files beside the entry that the executable holds although no import names them. */
  readonly included: readonly string[];
}

/**
 * Arguments of `deno` that make a folder of scripts, `main.js` first. Pure.
 *
 * | not used | why |
 * |---|---|
 * | `--minify` | of `using x = open(); return x.y` it leaves `return open().y`: x is never closed (esbuild 0.25.5) |
 * | one file | the Kubernetes client, which runs outside of clusters alone, would cost 50 MB and 150 ms inside of them |
 */
export function renderBundleArguments(entry: string, folder: string): readonly string[] {
  return ["bundle", "--code-splitting", "--platform=deno", `--outdir=${folder}`, entry];
}

/** Arguments of `deno` that make an executable of a bundle, which holds all there is: no lock, no packages. Pure. */
export function renderCompileArguments(options: CompileOptions): readonly string[] {
  const { entry, output, architecture, os = "linux", permissions, included } = options;
  const target = architecture === undefined ? [] : [`--target=${TARGETS[architecture]}-${SYSTEMS[os]}`];
  const alone = ["--no-config", "--no-lock", "--no-check", "--unstable-kv", "--app-name=archway"];
  const beside = included.map((path) => `--include=${path}`);
  return ["compile", ...alone, ...permissions, ...target, ...beside, `--output=${output}`, entry];
}

/**
 * Chunks above this (bytes) are loaded on request alone: the Kubernetes client has 17 MB, all that a cluster needs 3.
 */
const LARGE_CHUNK = 4 * 1_048_576;

/** Bundles main.ts into the folder, which is emptied first; returns the bytes of each file. */
export async function bundle(folder: string): Promise<Readonly<Record<string, number>>> {
  await Deno.mkdir(folder, { recursive: true });
  for await (const { name } of Deno.readDir(folder)) await Deno.remove(join(folder, name), { recursive: true });
  await runDeno(renderBundleArguments(join(ROOT, "main.ts"), folder));
  const sizes: Record<string, number> = {};
  for await (const { name } of Deno.readDir(folder)) sizes[name] = (await Deno.stat(join(folder, name))).size;
  const large = largeChunks(sizes);
  for (const name of Object.keys(sizes).filter((name) => !large.includes(name))) {
    const text = await Deno.readTextFile(join(folder, name));
    const hidden = hideImports(text, large);
    if (hidden !== text) await Deno.writeTextFile(join(folder, name), hidden);
  }
  return sizes;
}

export function largeChunks(sizes: Readonly<Record<string, number>>): readonly string[] {
  return Object.entries(sizes).filter(([, bytes]) => bytes > LARGE_CHUNK).map(([name]) => name);
}

/**
 * Hides chunks from the runtime, which parses its whole module graph at its start: 150 MB on a read-only root. Pure.
 */
export function hideImports(text: string, names: readonly string[]): string {
  return names.reduce((rest, name) => rest.replaceAll(`import("./${name}")`, `import(["./${name}"].join(""))`), text);
}

/** Makes an executable of a bundle; returns its bytes. Throws with what to do when its base is not available. */
export async function compile(options: CompileOptions): Promise<number> {
  const { architecture, os = "linux", output } = options;
  const base = architecture === undefined || os !== "linux"
    ? undefined
    : Deno.env.get(`DENORT_BIN_${architecture.toUpperCase()}`);
  await runDeno(renderCompileArguments(options), base === undefined ? {} : { DENORT_BIN: base });
  return (await Deno.stat(output)).size;
}

async function runDeno(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
  const run = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
    env: { ...env, NO_COLOR: "1" },
    stdout: "null",
    stderr: "piped",
  });
  const { success, stderr } = await run.output();
  if (success) return;
  const said = new TextDecoder().decode(stderr);
  const failure = renderFailure(args[0] ?? "", said);
  throw MISSING_BASE.test(said) ? new MissingBaseError(failure) : new Error(failure);
}

const MISSING_BASE = /\/(denort-[^\s/]+)\.zip/;

/** The base of an executable can be neither found nor fetched: a bundle needs none. */
export class MissingBaseError extends Error {}

/** What a failed run of `deno` means: what to do first where the base is missing, what deno said last. Pure. */
export function renderFailure(command: string, stderr: string): string {
  const said = stderr.replace(/\nStack backtrace:[^]*/, "").trim();
  const base = MISSING_BASE.exec(said)?.[1];
  if (base === undefined) return `Cannot run "deno ${command}":\n${said}`;
  return [
    `Cannot compile an executable: its base "${base}" of Deno ${Deno.version.deno} cannot be fetched from dl.deno.land. Either`,
    "  set DENORT_BIN (for one of several architectures: DENORT_BIN_AMD64, DENORT_BIN_ARM64) to that file, unpacked, or",
    "  take the form that needs no base, scripts beside a runtime: --form=bundle",
    "What deno said:",
    ...said.split("\n").map((line) => `  ${line}`),
  ].join("\n");
}

export function parseArchitecture(name: string): ImageArchitecture {
  if (name === "amd64" || name === "arm64") return name;
  throw new Error(`Cannot build for "${name}": the architectures are ${Object.keys(TARGETS).join(", ")}`);
}

export function parseForm(name: string): Form {
  if (name === "binary" || name === "bundle" || name === "daemon") return name;
  throw new Error(`Cannot build the form "${name}": the forms are binary, bundle, daemon`);
}

export function parsePermissionSet(name: string): PermissionSet {
  if (name === "serve" || name === "plugins" || name === "daemon") return name;
  throw new Error(`Cannot grant "${name}": the permission sets are serve, plugins, daemon`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      form: { type: "string", default: "binary" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return await print(USAGE);
  const form = parseForm(values.form);
  const folder = join(ROOT, "dist", "bundle");
  const sizes = await bundle(folder);
  const bytes = Object.values(sizes).reduce((sum, size) => sum + size, 0);
  await print(`${folder}  ${mebibytes(bytes)}\n`);
  if (form !== "binary") return;
  const output = join(ROOT, "dist", "archway");
  const size = await compile({
    entry: join(folder, "main.js"),
    output,
    permissions: renderPermissions(await readPermissions("serve")),
    included: largeChunks(sizes).map((name) => join(folder, name)),
  });
  await print(`${output}  ${mebibytes(size)}\n`);
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

if (import.meta.main) await runTask(main);
