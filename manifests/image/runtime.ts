// The runtime of the image: one version of Deno for every architecture, which the Containerfile names.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { ROOT, runTool } from "../tool.ts";
import type { ImageArchitecture } from "./compile.ts";

export const CONTAINERFILE: string = join(ROOT, "manifests", "image", "Containerfile");

export type Target = `${"linux" | "darwin"}-${ImageArchitecture}`;

/** npm's packages with the pinned Deno, and the SHA-256 of the program in each: another one is refused. */
const PACKAGES: Readonly<Record<Target, { readonly name: string; readonly sha256: string }>> = {
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

export function parsePin(containerfile: string): string {
  const pinned = /^ARG DENO_VERSION=(\S+)$/m.exec(containerfile)?.[1];
  if (pinned === undefined) {
    throw new Error("Cannot tell the version of Deno: the Containerfile has no ARG DENO_VERSION");
  }
  return pinned;
}

export async function readPinnedDeno(): Promise<string> {
  return parsePin(await Deno.readTextFile(CONTAINERFILE));
}

/** The pinned Deno, byte by byte: this one where it is the same, else that of npm's package, fetched by Deno itself. */
export async function findPinned(target: Target, pinned: string): Promise<string> {
  const { name, sha256 } = PACKAGES[target];
  if (await digestOf(Deno.execPath()) === sha256) return Deno.execPath();
  const cache = join(ROOT, "dist", "deno");
  const env = { DENO_DIR: cache, NO_COLOR: "1" };
  await runTool(Deno.execPath(), ["cache", "--no-config", "--no-lock", `npm:${name}@${pinned}`], { env });
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
