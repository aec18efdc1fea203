// A base image with what gcr.io/distroless/cc has: glibc, libgcc_s, CA certificates, the user nonroot; from Debian packages.
import { readPinnedDeno } from "../../../manifests/image/runtime.ts";
import { pinnedCacheDirectory } from "../../support/go_build.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { runCommand } from "../../support/commands.ts";
import { unpackDebian } from "./debian.ts";
import type { NodeArch } from "./program_images.ts";

export const BASE_IMAGE = "localhost/archway-test-base:v1";

/** The libraries that deno and its name look-ups load. */
const LIBRARIES = [
  ...["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1"],
  ...["libresolv.so.2", "libnss_dns.so.2", "libnss_files.so.2"],
];
const TRIPLETS = { amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" } as const;
const LOADERS = { amd64: "lib64/ld-linux-x86-64.so.2", arm64: "lib/ld-linux-aarch64.so.1" } as const;

const CONTAINERFILE = `FROM scratch
ARG TARGETARCH
COPY \${TARGETARCH}/ /
ENV PATH=/usr/local/bin:/usr/bin:/bin SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
USER 65532:65532
WORKDIR /home/nonroot
`;

const PACKAGES = ["libc6", "libgcc-s1"];

/** Downloads what it is made of for arm64. */
export async function downloadBase(): Promise<void> {
  await unpackDebian("arm64", PACKAGES);
  await findDeno("arm64");
}

export async function buildBaseImage(): Promise<void> {
  await using temporary = await temporaryFolder();
  const context = temporary.path;
  for (const arch of ["amd64", "arm64"] as const) await fillRoot(`${context}/${arch}`, arch);
  await Deno.writeTextFile(`${context}/Containerfile`, CONTAINERFILE);
  await runCommand("buildah", ["manifest", "rm", BASE_IMAGE]).catch(() => "");
  const platform = "--platform=linux/amd64,linux/arm64";
  await runCommand("buildah", ["build", "--quiet", platform, `--manifest=${BASE_IMAGE}`, context]);
}

/** A deno for the architecture: this one, or the one of the package for arm64 Linux on PyPI. */
export async function findDeno(arch: NodeArch): Promise<string> {
  if (arch === "amd64") return Deno.execPath();
  const version = await readPinnedDeno();
  const cache = await pinnedCacheDirectory("deno", [version, arch]);
  const file = `${cache}/deno`;
  if (await Deno.stat(file).then(() => true, () => false)) return file;
  await Deno.mkdir(cache, { recursive: true });
  const wheel = ["--no-deps", "--platform", "manylinux_2_27_aarch64", "--only-binary=:all:", "--dest", cache];
  await runCommand("pip", ["download", "--quiet", ...wheel, `deno==${version}`]);
  await runCommand("sh", ["-c", 'cd "$1" && python3 -m zipfile -e ./*.whl wheel', "sh", cache]);
  const found = (await runCommand("find", [`${cache}/wheel`, "-type", "f", "-name", "deno"])).trim();
  await Deno.rename(found, file);
  await Deno.chmod(file, 0o755);
  return file;
}

async function fillRoot(root: string, arch: NodeArch): Promise<void> {
  const triplet = TRIPLETS[arch];
  const libraries = `${root}/lib/${triplet}`;
  for (const folder of ["etc/ssl/certs", "tmp", "home/nonroot", "proc", "sys", "dev", "lib64"]) {
    await Deno.mkdir(`${root}/${folder}`, { recursive: true });
  }
  await Deno.mkdir(libraries, { recursive: true });
  const source = arch === "amd64" ? "" : await unpackDebian(arch, PACKAGES);
  for (const library of LIBRARIES) {
    await copyFirst(libraries, [`lib/${triplet}/${library}`, `usr/lib/${triplet}/${library}`], source);
  }
  await copyFollowing(`${source}/${LOADERS[arch]}`, `${root}/${LOADERS[arch]}`);
  await Deno.copyFile("/etc/ssl/certs/ca-certificates.crt", `${root}/etc/ssl/certs/ca-certificates.crt`);
  const user = "nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin";
  await Deno.writeTextFile(`${root}/etc/passwd`, `root:x:0:0:root:/root:/sbin/nologin\n${user}\n`);
  await Deno.writeTextFile(`${root}/etc/group`, "root:x:0:\nnonroot:x:65532:\n");
  await Deno.writeTextFile(`${root}/etc/nsswitch.conf`, "hosts: files dns\n");
  await Deno.chmod(`${root}/tmp`, 0o1777);
  await Deno.chown(`${root}/home/nonroot`, 65532, 65532);
}

async function copyFirst(folder: string, candidates: readonly string[], source: string): Promise<void> {
  for (const candidate of candidates) {
    const from = `${source}/${candidate}`;
    if (!await Deno.stat(from).then(() => true, () => false)) continue;
    return await copyFollowing(from, `${folder}/${from.slice(from.lastIndexOf("/") + 1)}`);
  }
}

async function copyFollowing(from: string, to: string): Promise<void> {
  await Deno.copyFile(await Deno.realPath(from), to);
}
