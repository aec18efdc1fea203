// Go programs of the tests: built once from a pinned module into the cache folder, under a lock, so that only the first run pays.
import { runToEnd } from "./commands.ts";

/** One executable that is built from a Go module of the repository. */
export interface GoProgram {
  /** File name in the cache. */
  readonly name: string;
  /** Folder of the go.mod that pins it; ends with a slash. */
  readonly module: URL;
  /** Import path of its main package. */
  readonly package: string;
  /** For `-ldflags`. */
  readonly linkerFlags: string;
  /** More environment for the build, such as GOARCH. CGO is off unless this says otherwise. */
  readonly environment?: Readonly<Record<string, string>>;
  /** More arguments of `go build`, such as `-modfile`. */
  readonly buildFlags?: readonly string[];
}

/** Path of the program; builds it when the folder lacks it. Throws an Error whose message is one line when it cannot be built. */
export async function ensureGoProgram(program: GoProgram, directory: string): Promise<string> {
  const target = `${directory}/${program.name}`;
  return await isFile(target) ? target : await buildLocked(program, directory);
}

/** Builds under a lock of the folder: a second process waits and then finds the work done. */
async function buildLocked(program: GoProgram, directory: string): Promise<string> {
  await Deno.mkdir(directory, { recursive: true });
  using lock = await Deno.open(`${directory}/.lock`, { create: true, write: true });
  await lock.lock(true);
  const target = `${directory}/${program.name}`;
  if (await isFile(target)) return target;
  const started = performance.now();
  report(`building ${program.name} (first run only; up to 4 minutes)`);
  await build(program, `${target}.part`);
  await Deno.rename(`${target}.part`, target);
  report(`built ${program.name} in ${Math.round((performance.now() - started) / 1000)} s`);
  return target;
}

function report(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
}

async function build(program: GoProgram, output: string): Promise<void> {
  const args = [
    ...["build", "-trimpath", "-buildvcs=false", ...(program.buildFlags ?? [])],
    ...["-ldflags", program.linkerFlags, "-o", output, program.package],
  ];
  const env = { CGO_ENABLED: "0", ...program.environment };
  const { code, err } = await runToEnd("go", args, { cwd: program.module, env });
  if (code === 0) return;
  const reason = err.trim().split("\n").at(-1) ?? "";
  throw new Error(`Cannot build "${program.name}": ${reason}`);
}

/** The folder for one state of the pins, outside of the checkout: `archway/PREFIX-HASH` in the user's cache. */
export async function pinnedCacheDirectory(prefix: string, pins: readonly (string | URL)[]): Promise<string> {
  const root = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME") ?? "/tmp"}/.cache`;
  const texts = await Promise.all(pins.map((pin) => pin instanceof URL ? Deno.readTextFile(pin) : pin));
  const bytes = new TextEncoder().encode([...texts].join("\n"));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex().slice(0, 12);
  return `${root}/archway/${prefix}-${hash}`;
}

export async function hasGo(): Promise<boolean> {
  return await findOnPath("go") !== undefined;
}

/** Path of an executable on the PATH. */
export async function findOnPath(name: string): Promise<string | undefined> {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    if (await isFile(`${folder}/${name}`)) return `${folder}/${name}`;
  }
  return undefined;
}

export async function isFile(path: string): Promise<boolean> {
  return await Deno.stat(path).then((info) => info.isFile, () => false);
}
