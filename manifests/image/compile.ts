// `deno task compile`: one executable, or with --form=bundle one script, in dist/. Called by image.ts as well.
//   --arch=amd64|arm64   for that architecture of Linux instead of this machine's; repeatable
//   DENORT_BIN=FILE      base of the executable, where dl.deno.land cannot be reached (DENORT_BIN_ARM64=… for one of several)
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** The checkout. */
export const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));

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
  readonly entry: string;
  readonly output: string;
  readonly architecture?: ImageArchitecture;
}

/** Arguments of `deno`. Pure. */
export function renderCompileArguments({ entry, output, architecture }: CompileOptions): readonly string[] {
  const target = architecture === undefined ? [] : [`--target=${TARGETS[architecture]}`];
  // Types are checked by `deno task check`; the compiler would check its own minified output.
  const form = ["--bundle", "--minify", "--no-check", "--app-name=archway"];
  return ["compile", ...form, ...PERMISSIONS, ...target, `--output=${output}`, entry];
}

/** Arguments of `deno` for the script. Pure. */
export function renderBundleArguments({ entry, output }: CompileOptions): readonly string[] {
  return ["bundle", "--minify", "--platform=deno", `--output=${output}`, entry];
}

/** Builds; answers how many bytes the result has. Throws when the compiler fails, with what to do where that is known. */
export async function build(form: Form, options: CompileOptions): Promise<number> {
  const args = form === "binary" ? renderCompileArguments(options) : renderBundleArguments(options);
  const base = options.architecture === undefined
    ? undefined
    : Deno.env.get(`DENORT_BIN_${options.architecture.toUpperCase()}`);
  const run = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
    env: base === undefined ? {} : { DENORT_BIN: base },
    stdout: "piped",
    stderr: "piped",
  });
  const { success, stderr } = await run.output();
  if (success) return (await Deno.stat(options.output)).size;
  const said = new TextDecoder().decode(stderr).trim();
  const hint = said.includes("denort")
    ? "\nThe base of the executable is fetched from dl.deno.land. Where that cannot be reached, set DENORT_BIN to a denort " +
      `of version ${Deno.version.deno}, or take --form=bundle.`
    : "";
  throw new Error(`Cannot build "${options.output}":\n${said}${hint}`);
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
  const entry = join(ROOT, "main.ts");
  await Deno.mkdir(join(ROOT, "dist"), { recursive: true });
  const jobs: readonly CompileOptions[] = form === "bundle"
    ? [{ entry, output: join(ROOT, "dist", "archway.js") }]
    : values.arch.length === 0
    ? [{ entry, output: join(ROOT, "dist", "archway") }]
    : values.arch.map(parseArchitecture).map((architecture) => ({
      entry,
      output: join(ROOT, "dist", `archway-linux-${architecture}`),
      architecture,
    }));
  for (const job of jobs) {
    const bytes = await build(form, job);
    await print(`${job.output}  ${(bytes / 1_048_576).toFixed(1)} MiB\n`);
  }
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
