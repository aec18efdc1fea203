// The builder's image and a base image of node images, for both architectures: Debian's programs, laid out as the machine config
// operator's image and Red Hat CoreOS have them.
import { ensureGoProgram, pinnedCacheDirectory } from "../../support/go_build.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { runCommand } from "../../support/commands.ts";
import { unpackDebian } from "./debian.ts";
import type { NodeArch } from "./program_images.ts";

/** Their names in buildah's own storage. */
export const BUILDER_IMAGE = "localhost/archway-test-builder:v1";
export const OS_IMAGE = "localhost/archway-test-os:v1";

const ARCHITECTURES = ["amd64", "arm64"] as const;
const MODULE = new URL("../programs/machine_os_builder/", import.meta.url);

/** bash and coreutils with what they load. */
const SHELL = [
  ...["base-files", "libc6", "libgcc-s1", "libtinfo6", "bash", "coreutils", "libacl1", "libattr1", "libgmp10"],
  ...["libpcre2-8-0", "libselinux1", "libblkid1"],
];
const BUILDER = [
  ...SHELL,
  ...["buildah", "libassuan0", "libgpgme11", "libgpg-error0", "libdevmapper1.02.1", "libudev1", "libseccomp2"],
  ...["uidmap", "libsubid4", "util-linux", "libpam0g", "libpam-modules", "libaudit1", "libcap-ng0", "libcrypt1"],
  ...["p11-kit", "p11-kit-modules", "libp11-kit0", "libffi8", "libtasn1-6"],
];
const OS = [...SHELL, "gzip", "jq", "libjq1", "libonig5", "ignition"];

type Files = Readonly<Record<string, string>>;

const TRUST = "/etc/pki/ca-trust";
const PROGRAM = "#!/bin/sh\n";

/** A user without rights who has other users' ids to give, as `useradd` makes it, and certificates where Red Hat has them. */
const BUILDER_FILES: Files = {
  "etc/passwd": "root:x:0:0:root:/root:/bin/bash\nbuild:x:1000:1000::/home/build:/bin/bash\n",
  "etc/group": "root:x:0:\nbuild:x:1000:\n",
  "etc/subuid": "build:100000:65536\n",
  "etc/subgid": "build:100000:65536\n",
  "etc/pam.d/su": [
    "auth sufficient pam_rootok.so",
    "account required pam_permit.so",
    "session required pam_permit.so",
    "",
  ]
    .join("\n"),
  "etc/pkcs11/modules/p11-kit-trust.module":
    `module: p11-kit-trust.so\npriority: 1\ntrust-policy: yes\nx-init-reserved: paths=${TRUST}/source\n`,
  "etc/containers/README": "policy.json and registries.conf come from the cluster.\n",
  "etc/pki/ca-trust/extracted/openssl/README": "",
  "etc/pki/ca-trust/extracted/pem/README": "",
  "etc/pki/ca-trust/source/anchors/README": "",
};
/** qemu-user knows no seccomp: steps of builds on the emulated node have no filter. */
const EMULATED_FILES: Files = { "usr/share/containers/seccomp.json": "{}\n" };
/** In place of what commits the file system tree that nodes boot, and of Red Hat's way to renew trust. */
const OS_FILES: Files = { "usr/bin/ostree": PROGRAM, "usr/bin/update-ca-trust": PROGRAM };

/** Downloads their packages. */
export async function unpackBuilderPackages(): Promise<void> {
  for (const arch of ARCHITECTURES) for (const packages of [BUILDER, OS]) await unpackDebian(arch, packages);
}

export async function buildBuilderImages(): Promise<void> {
  await using temporary = await temporaryFolder();
  const context = temporary.path;
  for (const arch of ARCHITECTURES) {
    const builder = await layOut(`${context}/builder/${arch}`, { arch, packages: BUILDER, files: BUILDER_FILES });
    if (arch !== "amd64") await write(builder, EMULATED_FILES);
    await runCommand("python3", ["-c", GIVE, `${builder}/usr/bin`]);
    await Deno.mkdir(`${builder}/home/build`);
    await Deno.chown(`${builder}/home/build`, 1000, 1000);
    await Deno.copyFile(await ensureProgram(arch), `${builder}/usr/bin/machine-os-builder`);
    await Deno.symlink(`${TRUST}/extracted/pem/tls-ca-bundle.pem`, `${builder}/etc/ssl/certs/ca-certificates.crt`);
    await layOut(`${context}/os/${arch}`, { arch, packages: OS, files: OS_FILES });
  }
  await build(BUILDER_IMAGE, `${context}/builder`);
  await build(OS_IMAGE, `${context}/os`);
}

interface Layout {
  readonly arch: NodeArch;
  readonly packages: readonly string[];
  readonly files: Files;
}

async function layOut(root: string, { arch, packages, files }: Layout): Promise<string> {
  await Deno.mkdir(root, { recursive: true });
  const unpacked = await unpackDebian(arch, packages);
  await runCommand("cp", ["-a", `${unpacked}/.`, root]);
  for (const folder of ["doc", "man", "locale", "info"]) {
    await Deno.remove(`${root}/usr/share/${folder}`, { recursive: true }).catch(() => undefined);
  }
  await Deno.symlink("bash", `${root}/bin/sh`);
  await Deno.mkdir(`${root}/etc/ssl/certs`, { recursive: true });
  await write(root, files);
  return root;
}

async function write(root: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(`${root}/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
    await Deno.writeTextFile(`${root}/${path}`, text, { mode: text === PROGRAM ? 0o755 : 0o644 });
  }
}

async function ensureProgram(arch: NodeArch): Promise<string> {
  const sources = ["go.mod", "go.sum", "main.go"].map((file) => new URL(file, MODULE));
  const directory = await pinnedCacheDirectory("machine-os-builder", sources);
  const environment = { GOARCH: arch };
  const program = { name: `program-${arch}`, module: MODULE, package: ".", linkerFlags: "-s -w", environment };
  return await ensureGoProgram(program, directory);
}

/**
 * With what a user may map ids of others: capabilities of the programs' files, as Red Hat has them. With the set-user-ID bit that
 * Debian has the kernel wants CAP_SYS_ADMIN of the one who maps, which no container without privileges has (EPERM).
 */
const GIVE = `import os, struct, sys
for name, capability in (("newuidmap", 7), ("newgidmap", 6)):
    file = sys.argv[1] + "/" + name
    os.chmod(file, 0o755)
    os.setxattr(file, "security.capability", struct.pack("<5I", 0x02000001, 1 << capability, 0, 0, 0))
`;

/** A Containerfile would take these away. */
const COMMIT = `set -e
container=$(buildah from --quiet --platform "linux/$1" scratch)
cp -a "$2/$1/." "$(buildah mount "$container")"
buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
buildah commit --quiet --rm --manifest "$3" "$container"`;

async function build(name: string, context: string): Promise<void> {
  await runCommand("buildah", ["manifest", "rm", name]).catch(() => "");
  for (const arch of ARCHITECTURES) await runCommand("sh", ["-c", COMMIT, "sh", arch, context, name]);
}
