// The runtime of the image: one version of Deno for every architecture, which the Containerfile names.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type ImageArchitecture, ROOT } from "./compile.ts";

export const CONTAINERFILE: string = join(ROOT, "manifests", "image", "Containerfile");

/** What a program is for. */
export type Target = `${"linux" | "darwin"}-${ImageArchitecture}`;

/** npm's packages with the pinned Deno, and the SHA-256 of the program in each: another one is refused. */
export const PACKAGES: Readonly<Record<Target, { readonly name: string; readonly sha256: string }>> = {
  "linux-amd64": {
    name: "@deno/linux-x64-glibc",
    sha256: "bceb5b6a6239b0b010418406d8c77a508f67cf4337d94288f1c19fe71304aab0",
  },
  "linux-arm64": {
    name: "@deno/linux-arm64-glibc",
    sha256: "d08d392418df53f4e6e88a08909c0e1bccbf9adcead7232df72b6ad6075ec416",
  },
  "darwin-amd64": {
    name: "@deno/darwin-x64",
    sha256: "ec9fbd8e8f5f6ca5ceb0ebe4a564636f2c698bf60e3187460ded400cc0147fd5",
  },
  "darwin-arm64": {
    name: "@deno/darwin-arm64",
    sha256: "b3ac3bd206e48c26026cadd80c1367e96c149f9c66130952382a642b09fa8a71",
  },
};

/** As Deno names itself to servers: the name is in every build of it. */
const OWN_NAME = "Deno/";
/** Not of 0: a package that Deno holds quotes one of those. */
const VERSION = /^[1-9]\d*\.\d+\.\d+/;
/** Longest version that is looked for (bytes). */
const MAX_VERSION = 24;

/** The architecture, as images name it, whose image the Deno of a machine can go into; undefined where it runs in none. Pure. */
export function nativeOf({ os, arch }: Pick<typeof Deno.build, "os" | "arch">): ImageArchitecture | undefined {
  return os === "linux" ? ({ x86_64: "amd64", aarch64: "arm64" } as const)[arch] : undefined;
}

/** That of this machine. */
export const NATIVE: ImageArchitecture | undefined = nativeOf(Deno.build);

/** A Deno that is to go into the image. */
export interface Runtime {
  /** The variable that names it. */
  readonly variable: string;
  /** What it says that it is; empty where it does not say. */
  readonly versions: readonly string[];
}

/** The version that a Containerfile pins. Throws when it pins none. Pure. */
export function parsePin(containerfile: string): string {
  const pinned = /^ARG DENO_VERSION=(\S+)$/m.exec(containerfile)?.[1];
  if (pinned === undefined) {
    throw new Error("Cannot tell the version of Deno: the Containerfile has no ARG DENO_VERSION");
  }
  return pinned;
}

/** The version of Deno that the image has. */
export async function readPinnedDeno(): Promise<string> {
  return parsePin(await Deno.readTextFile(CONTAINERFILE));
}

/** The versions that a program for any architecture names as its own, each once. Pure. */
export function findVersions(program: Uint8Array): readonly string[] {
  const buffer = Buffer.from(program.buffer, program.byteOffset, program.byteLength);
  const found = new Set<string>();
  for (let at = buffer.indexOf(OWN_NAME); at >= 0; at = buffer.indexOf(OWN_NAME, at + 1)) {
    const start = at + OWN_NAME.length;
    const version = VERSION.exec(buffer.toString("latin1", start, start + MAX_VERSION))?.[0];
    if (version !== undefined) found.add(version);
  }
  return [...found];
}

/** Why a runtime cannot go into the image; undefined when it can, or does not say what it is. Pure. */
export function refusalOf({ variable, versions }: Runtime, pinned: string): string | undefined {
  if (versions.length === 0 || versions.includes(pinned)) return undefined;
  return `Cannot build: ${variable} names Deno ${versions.join(", ")}, and the image has ${pinned}, ` +
    "the same for every architecture";
}

/** The variable that names the Deno for an architecture. Pure. */
export function variableOf(architecture: ImageArchitecture): string {
  return `DENO_BIN_${architecture.toUpperCase()}`;
}

/** The Deno for an architecture: the one given, or the pinned one. Throws when the one given has another version. */
export async function findRuntime(
  architecture: ImageArchitecture,
  { given, pinned }: { readonly given: string | undefined; readonly pinned: string },
): Promise<string> {
  if (given === undefined) return await findPinned(`linux-${architecture}`, pinned);
  const said = architecture === NATIVE ? await askVersion(given) : undefined;
  const versions = said === undefined ? findVersions(await Deno.readFile(given)) : [said];
  const refusal = refusalOf({ variable: variableOf(architecture), versions }, pinned);
  if (refusal !== undefined) throw new Error(refusal);
  return given;
}

/** The pinned Deno, byte by byte: this one where it is the same, else that of npm's package, fetched by Deno itself. */
export async function findPinned(target: Target, pinned: string): Promise<string> {
  const { name, sha256 } = PACKAGES[target];
  if (await digestOf(Deno.execPath()) === sha256) return Deno.execPath();
  const cache = join(ROOT, "dist", "deno");
  const run = new Deno.Command(Deno.execPath(), {
    args: ["cache", "--no-config", "--no-lock", `npm:${name}@${pinned}`],
    env: { DENO_DIR: cache, NO_COLOR: "1" },
    stdout: "null",
    stderr: "piped",
  });
  const { success, stderr } = await run.output();
  const said = new TextDecoder().decode(stderr).trim();
  if (!success) throw new Error(`Cannot fetch Deno ${pinned} for ${target}, npm's package ${name}:\n${said}`);
  for await (const { name: registry } of Deno.readDir(join(cache, "npm"))) {
    const file = join(cache, "npm", registry, name, pinned, "deno");
    if (await digestOf(file) === sha256) return file;
  }
  throw new Error(`Cannot take npm's package ${name}@${pinned}: its program is not the one of SHA-256 ${sha256}`);
}

async function digestOf(file: string): Promise<string | undefined> {
  const bytes = await Deno.readFile(file).catch(() => undefined);
  return bytes === undefined ? undefined : createHash("sha256").update(bytes).digest("hex");
}

/** What a program says to `--version`; undefined when it cannot be run here, or is no Deno. */
async function askVersion(file: string): Promise<string | undefined> {
  try {
    const { stdout } = await new Deno.Command(file, { args: ["--version"], stdin: "null", stderr: "null" }).output();
    return /^deno (\d+\.\d+\.\d+)/.exec(new TextDecoder().decode(stdout))?.[1];
  } catch {
    return undefined;
  }
}
