// What a machine must have to run real nodes, as one sentence when something is missing.
import { findOnPath, hasGo } from "../../support/go_build.ts";
import { findNodePrograms } from "./programs.ts";

/** Commands and the Debian packages that bring them. */
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
};

/** Where Debian puts the CNI plugins. */
export const CNI_FOLDER = "/usr/lib/cni";

/** The hierarchies of cgroup v1 in which each node gets a folder of its own. */
export const CGROUP_HIERARCHIES: readonly string[] = [
  ...["cpu", "cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids", "systemd"],
];

/** Why this machine cannot run real nodes, or undefined when it can. Builds and changes nothing. */
export async function missingForNodes(): Promise<string | undefined> {
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") return "The nodes need Linux on amd64.";
  if (Deno.uid() !== 0) return "The nodes need root.";
  for (const hierarchy of CGROUP_HIERARCHIES) {
    if (!await exists(`/sys/fs/cgroup/${hierarchy}/cgroup.procs`)) {
      return `The nodes need cgroup v1 with the hierarchy "${hierarchy}".`;
    }
  }
  const packages = new Set<string>();
  for (const [command, name] of Object.entries(COMMANDS)) {
    if (await findOnPath(command) === undefined && !await exists(`/usr/sbin/${command}`)) packages.add(name);
  }
  if (!await exists(`${CNI_FOLDER}/bridge`)) packages.add("containernetworking-plugins");
  if (packages.size > 0) return `Install the Debian packages ${[...packages].sort().join(", ")}.`;
  if (!await hasGo() && await findNodePrograms() === undefined) return "Install Go 1.26 or later.";
  return undefined;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
