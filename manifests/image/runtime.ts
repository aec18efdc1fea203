// The runtime of the image: one version of Deno for every architecture, which the Containerfile names.
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { type ImageArchitecture, ROOT } from "./compile.ts";

export const CONTAINERFILE: string = join(ROOT, "manifests", "image", "Containerfile");

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
  /** The variable that names it, or would. */
  readonly variable: string;
  /** Whether it is the one that runs the task. */
  readonly isOwn: boolean;
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
export function refusalOf({ variable, isOwn, versions }: Runtime, pinned: string): string | undefined {
  if (versions.length === 0 || versions.includes(pinned)) return undefined;
  const other = versions.join(", ");
  return isOwn
    ? `Cannot build: this is Deno ${other}, and the image has ${pinned}. Run the task by that ` +
      `(npx --yes deno@${pinned} task image …), or set ${variable} to one`
    : `Cannot build: ${variable} names Deno ${other}, and the image has ${pinned}, the same for every architecture`;
}

/** The variable that names the Deno for an architecture. Pure. */
export function variableOf(architecture: ImageArchitecture): string {
  return `DENO_BIN_${architecture.toUpperCase()}`;
}

/** The Deno for an architecture: the one given, or this one. Throws when there is none, or one of another version. */
export async function findRuntime(
  architecture: ImageArchitecture,
  { given, pinned }: { readonly given: string | undefined; readonly pinned: string },
): Promise<string> {
  const variable = variableOf(architecture);
  const isNative = architecture === NATIVE;
  const file = given ?? (isNative ? Deno.execPath() : undefined);
  if (file === undefined) {
    throw new Error(
      `Cannot build for ${architecture}: set ${variable} to a deno for it (npm @deno/linux-*, or the wheel "deno" of PyPI, ` +
        "hold one), or leave it out by --arch",
    );
  }
  const said = given === undefined ? Deno.version.deno : isNative ? await askVersion(file) : undefined;
  const versions = said === undefined ? findVersions(await Deno.readFile(file)) : [said];
  const refusal = refusalOf({ variable, isOwn: given === undefined, versions }, pinned);
  if (refusal !== undefined) throw new Error(refusal);
  return file;
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
