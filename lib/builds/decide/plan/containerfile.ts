// The Containerfile of one architecture: stages with configuration, extensions, kernel and CA bundle, then the user's
// text.
import type { KnownArchitecture } from "../../../arch.ts";
import type { ContainerFile } from "../observed.ts";
import type { RenderedConfig } from "../parse/machine_config.ts";
import { isAtLeast423 } from "./release.ts";

/** Raised when a change of the template below changes images; part of every build key. */
export const TEMPLATE_VERSION = 1;

const EXTENSION_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  ipsec: ["NetworkManager-libreswan", "libreswan"],
  kerberos: ["krb5-workstation", "libkadm5"],
  "kernel-devel": ["kernel-devel", "kernel-headers"],
  "sandboxed-containers": ["kata-containers"],
  sysstat: ["sysstat"],
  "two-node-ha": ["pacemaker", "pcs", "fence-agents-all"],
  usbguard: ["usbguard"],
  wasm: ["crun-wasm"],
};

const KERNEL = ["kernel", "kernel-core", "kernel-modules", "kernel-modules-core", "kernel-modules-extra"];
const KERNEL_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  realtime: ["kernel-rt-core", "kernel-rt-modules", "kernel-rt-modules-core", "kernel-rt-modules-extra"],
  "64k-pages": ["kernel-64k-core", "kernel-64k-modules", "kernel-64k-modules-core", "kernel-64k-modules-extra"],
};

export const KERNEL_64K = "64k-pages";

/** An empty kernel type means `default`, the kernel of the base image. */
export function canonicalKernel(kernelType: string): string {
  return kernelType === "" ? "default" : kernelType;
}

/** The user's Containerfile for an architecture: its own, else that for all (`NoArch`). Its lines end in LF. */
export function resolveContainerfile(files: readonly ContainerFile[], arch: KnownArchitecture): string | undefined {
  const file = files.find((one) => one.arch === arch) ?? files.find((one) => one.arch === "NoArch");
  return file?.content.replaceAll("\r\n", "\n");
}

/** From 4.23 on Open vSwitch's part of ipsec is a package of its own. */
function packagesOf(extension: string, meta: RenderedConfig["meta"]): readonly string[] {
  const packages = EXTENSION_PACKAGES[extension] ?? [];
  return extension === "ipsec" && isAtLeast423(meta) ? [...packages, "openvswitch3.5-ipsec"] : packages;
}

export function unknownExtensions(extensions: readonly string[]): readonly string[] {
  return extensions.filter((name) => !Object.hasOwn(EXTENSION_PACKAGES, name));
}

interface ContainerfileInput {
  readonly rendered: Pick<
    RenderedConfig,
    "meta" | "osImageURL" | "extensionsImage" | "kernelType" | "extensions"
  >;
  readonly pool: string;
  readonly userText: string | undefined;
}

const CONFIG = "/etc/machine-config-daemon/currentconfig";
const CA_BUNDLE = "openshift-config-user-ca-bundle.crt";

export function renderContainerfile({ rendered, pool, userText }: ContainerfileInput): string {
  const base = rendered.osImageURL;
  const sections = [
    "# Made by Archway for one architecture of one pool; do not edit.",
    [
      `FROM ${base} AS extract`,
      "COPY machineconfig/machineconfig.json.gz /tmp/machineconfig.json.gz",
      `RUN install -d /etc/machine-config-daemon && base64 -d /tmp/machineconfig.json.gz | gunzip > ${CONFIG}`,
    ],
    [
      `FROM ${base} AS configs`,
      `COPY --from=extract ${CONFIG} ${CONFIG}`,
      `RUN jq .spec.config ${CONFIG} > /tmp/ignition.json && \\`,
      '    container=oci bash -c "exec -a ignition-apply /usr/lib/dracut/modules.d/30ignition/ignition' +
      ' --ignore-unsupported /tmp/ignition.json" && \\',
      "    rm /tmp/ignition.json && ostree container commit",
    ],
    ...packageSections(rendered),
    [
      `COPY ${CA_BUNDLE} /etc/pki/ca-trust/source/anchors/${CA_BUNDLE}`,
      "RUN update-ca-trust",
    ],
    [
      `LABEL machineconfig=${rendered.meta.name}`,
      `LABEL machineconfigpool=${pool}`,
      `LABEL baseOSContainerImage=${base}`,
    ],
    ...(userText === undefined ? [] : [userText.trimEnd()]),
  ];
  return `${sections.map((lines) => typeof lines === "string" ? lines : lines.join("\n")).join("\n\n")}\n`;
}

const MOUNT = "/tmp/extensions";
const REPOSITORY = "/etc/yum.repos.d/archway-extensions.repo";

function packageSections(
  { meta, extensionsImage, extensions, kernelType }: ContainerfileInput["rendered"],
): readonly (readonly string[])[] {
  const packages = [...new Set(extensions)].toSorted().flatMap((name) => packagesOf(name, meta));
  const kernel = KERNEL_PACKAGES[canonicalKernel(kernelType)] ?? [];
  if (extensionsImage === "" || packages.length + kernel.length === 0) return [];
  const install = packages.length === 0 ? [] : [`    rpm-ostree install ${packages.join(" ")} && \\`];
  const swap = kernel.length === 0 ? [] : [
    `    rpm-ostree override remove ${KERNEL.join(" ")} ${kernel.map((name) => `--install ${name}`).join(" ")} && \\`,
  ];
  const logs = packages.includes("usbguard")
    ? ["    echo 'd /var/log/usbguard 0755 root root -' > /usr/lib/tmpfiles.d/usbguard.conf && \\"]
    : [];
  const keys = packages.includes("libreswan")
    ? ["    echo 'd /var/lib/ipsec/nss 0700 root root -' > /usr/lib/tmpfiles.d/archway-ipsec.conf && \\"]
    : [];
  return [[
    `RUN --mount=type=bind,from=${extensionsImage},source=/,target=${MOUNT},rw,z \\`,
    `    printf '[archway-extensions]\\nname=extensions\\nenabled=1\\ngpgcheck=0\\nbaseurl=file://${MOUNT}` +
    `/usr/share/rpm-ostree/extensions/\\n' > ${REPOSITORY} && \\`,
    ...install,
    ...swap,
    ...logs,
    ...keys,
    `    rm ${REPOSITORY} && ostree container commit`,
  ]];
}

const INSTRUCTIONS: readonly string[] = [
  "ADD",
  "ARG",
  "CMD",
  "COPY",
  "ENTRYPOINT",
  "ENV",
  "EXPOSE",
  "FROM",
  "HEALTHCHECK",
  "LABEL",
  "MAINTAINER",
  "ONBUILD",
  "RUN",
  "SHELL",
  "STOPSIGNAL",
  "USER",
  "VOLUME",
  "WORKDIR",
];
const PAIRS: readonly string[] = ["ENV", "LABEL"];
const HEREDOC = /<<-?\s*(["']?)([A-Za-z_][A-Za-z0-9_]*)\1/g;

/** The first mistake that shows without a build. */
export function checkContainerfile(text: string): string | undefined {
  const instructions = instructionsOf(text);
  if (instructions.length === 0) return undefined;
  for (const [name = "", ...rest] of instructions) {
    const keyword = name.toUpperCase();
    if (!INSTRUCTIONS.includes(keyword)) return `"${name.slice(0, 40)}" is no instruction`;
    if (rest.length === 0) return `${keyword} has no argument`;
    if (PAIRS.includes(keyword) && !rest.some((word) => word.includes("="))) return `${keyword} needs key=value`;
  }
  return instructions.some(([name]) => name?.toUpperCase() === "FROM") ? undefined : "it has no FROM";
}

/** The words of each instruction. */
function instructionsOf(text: string): readonly (readonly string[])[] {
  const lines = text.split("\n");
  const found: (readonly string[])[] = [];
  let at = 0;
  while (at < lines.length) {
    let joined = "";
    let isContinued = true;
    while (isContinued && at < lines.length) {
      const line = (lines[at] ?? "").trimEnd();
      at++;
      // Comments and empty lines may occur between the lines of one instruction.
      if (/^\s*(?:#|$)/.test(line)) {
        if (joined === "") break;
        continue;
      }
      isContinued = line.endsWith("\\");
      joined += ` ${isContinued ? line.slice(0, -1) : line}`;
    }
    const words = joined.trim().split(/\s+/).filter((word) => word !== "");
    if (words.length > 0) found.push(words);
    if (/^(?:RUN|COPY|ADD)$/i.test(words[0] ?? "")) at = afterHeredocs(joined, lines, at);
  }
  return found;
}

/** The index of the line after an instruction's here-documents; `from` where one of them is not closed. */
function afterHeredocs(instruction: string, lines: readonly string[], from: number): number {
  let at = from;
  for (const [, , word = ""] of instruction.matchAll(HEREDOC)) {
    const end = lines.findIndex((line, index) => index >= at && line.trim() === word);
    if (end < 0) return from;
    at = end + 1;
  }
  return at;
}
