// What a machine must have to run real nodes, as one sentence when something is missing.
import { existsSync } from "node:fs";

const COMMANDS: Readonly<Record<string, string>> = {
  "runc": "runc",
  "nft": "nftables",
  "iptables": "iptables",
  "conntrack": "conntrack",
  "qemu-aarch64-static": "qemu-user-static",
  "docker-registry": "docker-registry",
  "nsenter": "util-linux",
  "unshare": "util-linux",
  "ip": "iproute2",
  "buildah": "buildah",
};

export const CNI_FOLDER = "/usr/lib/cni";

/** The hierarchies of cgroup v1 in which each node gets a folder of its own. */
export const CGROUP_HIERARCHIES: readonly string[] = [
  ...["cpu", "cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids", "systemd"],
];

/** Why no package can make this machine run real nodes, or undefined when they can. */
export function unfitForNodes(): string | undefined {
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") return "The nodes need Linux on amd64.";
  if (Deno.uid() !== 0) return "The nodes need root.";
  const [, major = 0, minor = 0] = /^(\d+)\.(\d+)/.exec(Deno.osRelease())?.map(Number) ?? [];
  if (major < 6 || major === 6 && minor < 7) return "The nodes need Linux 6.7 or later: a binfmt_misc of their own.";
  const absent = CGROUP_HIERARCHIES.find((hierarchy) => !existsSync(`/sys/fs/cgroup/${hierarchy}/cgroup.procs`));
  return absent === undefined ? undefined : `The nodes need cgroup v1 with the hierarchy "${absent}".`;
}

/** Why this machine cannot run real nodes, or undefined when it can. Builds and changes nothing. */
export function missingForNodes(): string | undefined {
  const unfit = unfitForNodes();
  if (unfit !== undefined) return unfit;
  const packages = Object.entries(COMMANDS).filter(([command]) => !isOnPath(command)).map(([, name]) => name);
  if (!existsSync(`${CNI_FOLDER}/bridge`)) packages.push("containernetworking-plugins");
  if (packages.length > 0) return `Install the Debian packages ${[...new Set(packages)].sort().join(", ")}.`;
  return isOnPath("go") ? undefined : "Install Go 1.26 or later.";
}

function isOnPath(command: string): boolean {
  return [...(Deno.env.get("PATH") ?? "").split(":"), "/usr/sbin"].some((folder) => existsSync(`${folder}/${command}`));
}
