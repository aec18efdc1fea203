// bpftrace and its libraries out of Debian's packages, for any architecture: none of them runs while the image is
// built.
import { join } from "node:path";
import { runTool } from "../tool.ts";
import type { ImageArchitecture } from "./compile.ts";

/** The packages: bpftrace's dependencies without libc6 and libgcc-s1, which the base has, and a shell. */
const PACKAGES = [
  "dash",
  ...["bpftrace", "libbpf1", "libbpfcc", "libclang1-14", "libllvm14", "libdw1", "libelf1", "libstdc++6", "zlib1g"],
  ...[
    "liblzma5",
    "libbz2-1.0",
    "libffi8",
    "libedit2",
    "libz3-4",
    "libtinfo6",
    "libxml2",
    "libbsd0",
    "libmd0",
    "libicu72",
  ],
];

/** What bpftrace loads of them, directly or not. libbcc.so and libclang-cpp.so, 60 MB, are for its sister programs. */
const LIBRARIES: readonly string[] = [
  ...["libbpf.so.1", "libbcc_bpf.so.0", "libclang-14.so.13", "libLLVM-14.so.1", "libdw.so.1", "libelf.so.1"],
  ...["libstdc++.so.6", "libz.so.1", "liblzma.so.5", "libbz2.so.1.0", "libffi.so.8", "libedit.so.2", "libz3.so.4"],
  ...["libtinfo.so.6", "libxml2.so.2", "libbsd.so.0", "libmd.so.0", "libicuuc.so.72", "libicudata.so.72"],
];

const RECORDS = "records";

const TRIPLETS = { amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" } as const;

/**
 * Fills `root` with usr/bin/bpftrace, its libraries and bin/sh. `cache` keeps the packages. Throws where this is not
 * Debian 12.
 */
export async function layOutBpftrace(
  root: string,
  { architecture, cache }: { readonly architecture: ImageArchitecture; readonly cache: string },
): Promise<void> {
  const unpacked = await unpackPackages(architecture, cache);
  const triplet = TRIPLETS[architecture];
  const libraries = join(root, "usr", "lib", triplet);
  await Deno.mkdir(join(root, "usr", "bin"), { recursive: true });
  await Deno.mkdir(libraries, { recursive: true });
  await Deno.copyFile(join(unpacked, "usr", "bin", "bpftrace"), join(root, "usr", "bin", "bpftrace"));
  // bpftrace calls a shell for the folders of a compiler that is not installed, and crashes where there is no shell.
  await Deno.mkdir(join(root, "bin"), { recursive: true });
  await Deno.copyFile(join(unpacked, "bin", "dash"), join(root, "bin", "sh"));
  await copyRecords(unpacked, root);
  for (const name of LIBRARIES) {
    await Deno.copyFile(await findLibrary(unpacked, { triplet, name }), join(libraries, name));
  }
}

/** Copies the packages' descriptions to where scanners find them in images without a package manager. */
async function copyRecords(unpacked: string, root: string): Promise<void> {
  const records = join(root, "var", "lib", "dpkg", "status.d");
  await Deno.mkdir(records, { recursive: true });
  for await (const { name } of Deno.readDir(join(unpacked, RECORDS))) {
    await Deno.copyFile(join(unpacked, RECORDS, name, "control"), join(records, name.split("_")[0] ?? name));
  }
}

async function findLibrary(
  unpacked: string,
  { triplet, name }: { readonly triplet: string; readonly name: string },
): Promise<string> {
  for (const folder of ["usr/lib", "lib"]) {
    const file = join(unpacked, folder, triplet, name);
    const target = await Deno.realPath(file).catch(() => undefined);
    if (target !== undefined) return target;
  }
  throw new Error(`Cannot lay out bpftrace: its packages have no "${name}" for ${triplet}.`);
}

export async function isDebian12(): Promise<boolean> {
  const release = await Deno.readTextFile("/etc/os-release").catch(() => "");
  return release.includes("VERSION_CODENAME=bookworm");
}

/** Downloads and unpacks the packages of an architecture, once; returns the folder. apt gets a state of its own. */
export async function unpackPackages(architecture: ImageArchitecture, folder: string): Promise<string> {
  const cache = join(folder, architecture);
  const root = join(cache, "root");
  const [marker, wanted] = [join(cache, "complete"), [...PACKAGES, RECORDS].join(" ")];
  if (await Deno.readTextFile(marker).catch(() => "") === wanted) return root;
  if (!await isDebian12()) {
    throw new Error("Cannot lay out bpftrace: the libraries must be those of the base. Build this image on Debian 12.");
  }
  for (const folder of ["lists/partial", "archives/partial", "packages", "root"]) {
    await Deno.mkdir(join(cache, folder), { recursive: true });
  }
  const state = [
    `APT::Architecture=${architecture}`,
    `APT::Architectures=${architecture}`,
    `Dir::State::lists=${cache}/lists`,
    "Dir::State::status=/dev/null",
    `Dir::Cache=${cache}`,
    "APT::Sandbox::User=root",
  ].flatMap((option) => ["-o", option]);
  const packages = join(cache, "packages");
  await runTool("apt-get", [...state, "update", "-qq"], { cwd: cache });
  await runTool("apt-get", [...state, "download", "-qq", ...PACKAGES], { cwd: packages });
  for await (const { name } of Deno.readDir(packages)) {
    await runTool("dpkg-deb", ["-x", name, root], { cwd: packages });
    await Deno.mkdir(join(root, RECORDS), { recursive: true });
    await runTool("dpkg-deb", ["-e", name, join(root, RECORDS, name)], { cwd: packages });
  }
  await Deno.writeTextFile(marker, wanted);
  return root;
}
