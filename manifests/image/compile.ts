// `deno task compile`: one executable, or with --form=bundle its script and chunks, in dist/.
//   --arch=amd64|arm64   for that architecture of Linux instead of this machine's; repeatable
//   DENORT_BIN=FILE      base of the executable, where dl.deno.land cannot be reached (DENORT_BIN_ARM64=… for one of several)
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** The checkout. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** What is built. `binary` stands alone; `bundle` needs the runtime beside it. */
export type Form = "binary" | "bundle";

/** Architecture names of images, and what the compiler calls them. */
export const TARGETS = { amd64: "x86_64-unknown-linux-gnu", arm64: "aarch64-unknown-linux-gnu" } as const;

/** An architecture that is built for. */
export type ImageArchitecture = keyof typeof TARGETS;

/**
 * What the service may do, fixed in the executable: any registry, the files that flags name, and the credential plugins of
 * `--credential-provider-bin-dir`. No foreign functions, no prompts.
 */
export const PERMISSIONS: readonly string[] = [
  "--no-prompt",
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write",
  "--allow-sys",
  "--allow-run",
];

/** What to compile. Without an architecture: for this machine. */
export interface CompileOptions {
  /** `main.js` of a bundle. */
  readonly entry: string;
  readonly output: string;
  readonly architecture?: ImageArchitecture;
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
export function renderCompileArguments({ entry, output, architecture }: CompileOptions): readonly string[] {
  const target = architecture === undefined ? [] : [`--target=${TARGETS[architecture]}`];
  const alone = ["--no-config", "--no-lock", "--no-check", "--unstable-kv", "--app-name=archway"];
  return ["compile", ...alone, ...PERMISSIONS, ...target, `--output=${output}`, entry];
}

/** Bundles main.ts into the folder, which is emptied first; answers the bytes of each file. */
export async function bundle(folder: string): Promise<Readonly<Record<string, number>>> {
  await Deno.mkdir(folder, { recursive: true });
  for await (const { name } of Deno.readDir(folder)) await Deno.remove(join(folder, name), { recursive: true });
  await runDeno(renderBundleArguments(join(ROOT, "main.ts"), folder));
  const sizes: Record<string, number> = {};
  for await (const { name } of Deno.readDir(folder)) sizes[name] = (await Deno.stat(join(folder, name))).size;
  return sizes;
}

/** Makes an executable of a bundle; answers its bytes. Throws with what to do where the base cannot be had. */
export async function compile(options: CompileOptions): Promise<number> {
  const { architecture, output } = options;
  const base = architecture === undefined ? undefined : Deno.env.get(`DENORT_BIN_${architecture.toUpperCase()}`);
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
  if (!success) throw new Error(renderFailure(args[0] ?? "", new TextDecoder().decode(stderr)));
}

/** What a failed run of `deno` means: what to do first where the base is missing, what deno said last. Pure. */
export function renderFailure(command: string, stderr: string): string {
  const said = stderr.replace(/\n+Stack backtrace:[\s\S]*$/, "").trim();
  const base = /\S+\/(denort-\S+)\.zip/.exec(said)?.[1];
  if (base === undefined) return `Cannot run "deno ${command}":\n${said}`;
  return [
    `Cannot compile an executable: its base "${base}" of Deno ${Deno.version.deno} cannot be fetched from dl.deno.land. Either`,
    "  set DENORT_BIN (for one of several architectures: DENORT_BIN_AMD64, DENORT_BIN_ARM64) to that file, unpacked, or",
    "  take the form that needs no base, scripts beside a runtime: deno task compile --form=bundle",
    "What deno said:",
    ...said.split("\n").map((line) => `  ${line}`),
  ].join("\n");
}

/** The architecture named, or an error that says which there are. */
export function parseArchitecture(name: string): ImageArchitecture {
  if (name === "amd64" || name === "arm64") return name;
  throw new Error(`Cannot build for "${name}": the architectures are ${Object.keys(TARGETS).join(", ")}`);
}

/** The form named, or an error that says which there are. */
export function parseForm(name: string): Form {
  if (name === "binary" || name === "bundle") return name;
  throw new Error(`Cannot build the form "${name}": the forms are binary, bundle`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    args: Deno.args,
    options: { form: { type: "string", default: "binary" }, arch: { type: "string", multiple: true, default: [] } },
  });
  const form = parseForm(values.form);
  const folder = join(ROOT, "dist", "bundle");
  const sizes = Object.values(await bundle(folder)).reduce((sum, bytes) => sum + bytes, 0);
  await print(`${folder}  ${mebibytes(sizes)}\n`);
  if (form === "bundle") return;
  const entry = join(folder, "main.js");
  const jobs: readonly CompileOptions[] = values.arch.length === 0
    ? [{ entry, output: join(ROOT, "dist", "archway") }]
    : values.arch.map(parseArchitecture).map((architecture) => ({
      entry,
      output: join(ROOT, "dist", `archway-linux-${architecture}`),
      architecture,
    }));
  for (const job of jobs) await print(`${job.output}  ${mebibytes(await compile(job))}\n`);
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** Writes a line for the person who called. */
export async function print(text: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(text));
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    await print(`${error instanceof Error ? error.message : String(error)}\n`);
    Deno.exit(1);
  }
}
