// Debian's packages for an architecture, unpacked into the cache; apt's own state is not touched, and nothing of them runs.
import { pinnedCacheDirectory } from "../../support/go_build.ts";
import { runCommand } from "../../support/commands.ts";
import type { NodeArch } from "./program_images.ts";

const UNPACK = 'for p in "$1"/packages/*.deb; do dpkg -x "$p" "$1/root"; done && touch "$1/unpacked"';

/** The folder with what is in the packages, without what they depend on. */
export async function unpackDebian(arch: NodeArch, packages: readonly string[]): Promise<string> {
  const cache = await pinnedCacheDirectory("debian", [arch, ...packages]);
  const root = `${cache}/root`;
  if (await Deno.stat(`${cache}/unpacked`).then(() => true, () => false)) return root;
  for (const folder of ["lists/partial", "archives/partial", "root", "packages"]) {
    await Deno.mkdir(`${cache}/${folder}`, { recursive: true });
  }
  const own = [
    `APT::Architecture=${arch}`,
    `APT::Architectures=${arch}`,
    `Dir::State::lists=${cache}/lists`,
    "Dir::State::status=/dev/null",
    `Dir::Cache=${cache}`,
    "APT::Sandbox::User=root",
  ].flatMap((option) => ["-o", option]);
  await runCommand("apt-get", [...own, "update", "-qq"]);
  await runCommand("apt-get", [...own, "download", "-qq", ...packages], { cwd: `${cache}/packages` });
  await runCommand("sh", ["-c", UNPACK, "sh", cache]);
  return root;
}
