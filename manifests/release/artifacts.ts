// What a release has beside its images: their OCI layout, SBOMs, notes and checksums.
import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import { ROOT, runTool } from "../tool.ts";
import type { ReleasedImage, ReleaseOptions } from "./images.ts";

const CHECKSUMS = "SHA256SUMS";

/** Copies the images, with all their architectures, into one OCI layout. */
export async function writeLayout(images: readonly ReleasedImage[], options: ReleaseOptions): Promise<void> {
  const plain = options.isPlain ? ["--src-tls-verify=false"] : [];
  for (const { name, pinned } of images) {
    const target = `oci:${join(options.folder, "images")}:${name}`;
    await runTool("skopeo", ["copy", "--quiet", "--all", "--preserve-digests", ...plain, `docker://${pinned}`, target]);
  }
}

/** Writes an SPDX file of what the scripts are made of, and one for each architecture of each image. */
export async function writeSboms(images: readonly ReleasedImage[], options: ReleaseOptions): Promise<void> {
  const { folder, version, architectures } = options;
  const named = (name: string): readonly string[] => [`--source-name=${name}`, `--source-version=${version}`];
  const source = await Deno.makeTempDir({ prefix: "archway-sbom-" });
  try {
    await Deno.copyFile(join(ROOT, "deno.lock"), join(source, "deno.lock"));
    await runTool("syft", [
      "scan",
      `dir:${source}`,
      ...named("archway scripts"),
      ...spdx(join(folder, "sbom-scripts.spdx.json")),
    ]);
  } finally {
    await Deno.remove(source, { recursive: true });
  }
  for (const { name } of images) {
    for (const architecture of architectures) {
      const file = join(folder, `sbom-${name.replace(":", "-")}-${architecture}.spdx.json`);
      const copy = `${file}.tar`;
      const from = `oci:${join(folder, "images")}:${name}`;
      await runTool("skopeo", ["copy", "--quiet", `--override-arch=${architecture}`, from, `oci-archive:${copy}`]);
      await runTool("syft", ["scan", `oci-archive:${copy}`, ...named(name), ...spdx(file)]);
      await Deno.remove(copy);
    }
  }
}

function spdx(file: string): readonly string[] {
  return ["--quiet", `--output=spdx-json=${file}`];
}

export function notesOf(changelog: string, version: string): string {
  const parts = changelog.split(/^## /m);
  const part = parts.find((text) => text.startsWith(`${version}\n`));
  if (part === undefined) throw new Error(`Cannot write the notes: CHANGELOG.md has no "## ${version}"`);
  return part.slice(version.length).trim();
}

export async function writeNotes(references: readonly string[], { folder, version }: ReleaseOptions): Promise<void> {
  const changelog = await Deno.readTextFile(join(ROOT, "CHANGELOG.md"));
  const lines = references.map((reference) => `- \`${reference}\``);
  const notes = [`# Archway ${version}`, "", ...lines, "", notesOf(changelog, version), ""];
  await Deno.writeTextFile(join(folder, "NOTES.md"), notes.join("\n"));
}

/** Writes the checksums of all files of the folder, as `sha256sum --check` reads them. */
export async function writeChecksums(folder: string): Promise<void> {
  const lines: string[] = [];
  for (const file of (await listFiles(folder)).toSorted()) {
    const sha256 = createHash("sha256").update(await Deno.readFile(file)).digest("hex");
    lines.push(`${sha256}  ${relative(folder, file)}\n`);
  }
  await Deno.writeTextFile(join(folder, CHECKSUMS), lines.join(""));
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    files.push(...(isDirectory ? await listFiles(path) : [path]));
  }
  return files;
}
