// The machine that a test node passes for: a network and a mount namespace held by a sleeping process, and a cgroup for its
// daemons. Nothing leads out of the machine: the default route ends at a bridge.
//
//   n1's namespace: etcd, kube-apiserver, …, registry, the tests        n2's namespace
//     ar0 (bridge) 10.201.0.1 ───────────────── veth ───────────────────── ar0 10.201.0.2
//     cni0 10.244.1.0/24                                                   cni0 10.244.2.0/24
import { RunningProcess } from "../../cluster/support/process.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import { runCommand } from "../../support/commands.ts";
import { type Emulation, openEmulation } from "./emulation.ts";
import { CGROUP_HIERARCHIES } from "./requirements.ts";

export interface HostOptions {
  readonly name: string;
  /** 1 for the first host, to whose bridge the others are connected. */
  readonly index: number;
  /** Folder of its files and logs; made when absent. */
  readonly directory: string;
  /** Of a host that is not of this machine's architecture: it has a user namespace of its own. */
  readonly emulation?: Emulation;
}

export interface HostCommand {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A running host. It ends with its cgroup: see clean_up.sh. */
export interface NodeHost extends HostOptions {
  readonly address: string;
  /** Of the process that holds the namespaces. */
  readonly holderPid: number;
  /** Starts a daemon in the host's namespaces and cgroup. */
  start(command: HostCommand): RunningProcess;
  /** Runs a command to its end in the host's namespaces. */
  run(command: string, ...args: readonly string[]): Promise<string>;
}

/** First three numbers of the nodes' network. */
export const NODE_NETWORK = "10.201.0";
/** Paths that no flag moves, so each host has its own: shim sockets, the kubelet's device plugin socket, CNI results, log links. */
const OWN_PATHS = ["/run/containerd", "/var/lib/kubelet", "/var/lib/cni", "/var/log/containers", "/etc/cni"];

/** Name of the environment variable with the name of the lab. */
export const LAB_NAME_VARIABLE = "ARCHWAY_TEST_NODES_NAME";

/** What the cgroups of this lab begin with; a lab within a lab has a name of its own. */
export function labName(): string {
  return Deno.env.get(LAB_NAME_VARIABLE) ?? "archway";
}

const HOLD = 'echo $$ > "$1" && shift && exec unshare "$@" --net --mount --propagation private sleep infinity';
/** Shell script that goes into the cgroup of its first argument and becomes the command of the others. */
export const ENTER = 'echo $$ > "$1" && shift && exec "$@"';

export async function openNodeHost(options: HostOptions, first?: NodeHost): Promise<NodeHost> {
  const { name, index, directory, emulation } = options;
  await Deno.mkdir(directory, { recursive: true });
  const tasks = await makeCgroups(name);
  const args = ["-c", HOLD, "sh", tasks, ...(emulation === undefined ? [] : ["--user"])];
  const holder = RunningProcess.start({ name: "holder", command: "sh", args, directory });
  const host = describeHost(options, { holderPid: holder.pid, tasks });
  await waitUntil(`the namespaces of ${name}`, async () => await namespaceOf(holder.pid) !== await namespaceOf("self"));
  if (emulation !== undefined) await openEmulation(holder.pid, emulation);
  await preparePaths(host, directory);
  await (first === undefined ? openBridge(host) : connect(host, first));
  await host.run("sysctl", "-qw", "net.ipv4.ip_forward=1");
  await host.run("ip", "link", "set", "lo", "up");
  return { ...host, index };
}

/** The host of a holder that runs already, for a process that was started inside of it. */
export function describeHost(
  options: HostOptions,
  { holderPid, tasks = daemonTasks(options.name) }: { readonly holderPid: number; readonly tasks?: string },
): NodeHost {
  const target = ["-t", String(holderPid), "-n", "-m"];
  const enter = ["nsenter", ...target, ...(options.emulation === undefined ? [] : ["-U"]), "--"];
  return {
    ...options,
    address: `${NODE_NETWORK}.${options.index}`,
    holderPid,
    start: ({ name, command, args, env = {} }) =>
      RunningProcess.start({
        name,
        command: "sh",
        args: ["-c", ENTER, "sh", tasks, ...enter, command, ...args],
        directory: options.directory,
        env,
      }),
    // Outside of a user namespace, so that a host can be connected to the first one.
    run: (command, ...args) => runCommand("nsenter", [...target, "--", command, ...args]),
  };
}

/** The file that takes processes into the cgroup of a host's daemons. */
export function daemonTasks(name: string): string {
  return `/sys/fs/cgroup/pids/${labName()}-${name}-daemons/cgroup.procs`;
}

/** One cgroup for the daemons (how they are found at the end) and, in every hierarchy, the root of the kubelet's own. */
async function makeCgroups(name: string): Promise<string> {
  await Deno.mkdir(`/sys/fs/cgroup/pids/${labName()}-${name}-daemons`, { recursive: true });
  for (const hierarchy of CGROUP_HIERARCHIES) {
    await Deno.mkdir(`/sys/fs/cgroup/${hierarchy}/${labName()}-${name}`, { recursive: true });
  }
  for (const file of ["cpus", "mems"]) {
    const value = await Deno.readTextFile(`/sys/fs/cgroup/cpuset/cpuset.${file}`);
    await Deno.writeTextFile(`/sys/fs/cgroup/cpuset/${labName()}-${name}/cpuset.${file}`, value.trim());
  }
  return daemonTasks(name);
}

async function namespaceOf(pid: number | "self"): Promise<string> {
  return await Deno.readLink(`/proc/${pid}/ns/net`);
}

async function preparePaths(host: NodeHost, directory: string): Promise<void> {
  for (const path of OWN_PATHS) {
    await Deno.mkdir(path, { recursive: true });
    await Deno.mkdir(`${directory}/own${path}`, { recursive: true });
    await host.run("mount", "--bind", `${directory}/own${path}`, path);
  }
  // A peer group of its own: pods with mountPropagation HostToContainer start, and nothing reaches the machine's mounts.
  await host.run("mount", "--make-rshared", "/");
  await host.run("mount", "-t", "tracefs", "tracefs", "/sys/kernel/tracing").catch(() => "");
}

async function openBridge({ run, address }: NodeHost): Promise<void> {
  await run("ip", "link", "add", "ar0", "type", "bridge");
  await run("ip", "link", "set", "ar0", "up");
  await run("ip", "addr", "add", `${address}/24`, "dev", "ar0");
  await run("ip", "route", "add", "default", "dev", "ar0");
}

async function connect({ run, address, index }: NodeHost, first: NodeHost): Promise<void> {
  const peer = `ar${index}`;
  await run("ip", "link", "add", "ar0", "type", "veth", "peer", "name", peer, "netns", String(first.holderPid));
  await first.run("ip", "link", "set", peer, "master", "ar0", "up");
  await run("ip", "link", "set", "ar0", "up");
  await run("ip", "addr", "add", `${address}/24`, "dev", "ar0");
  await run("ip", "route", "add", "default", "via", first.address);
  await run("ip", "route", "add", `10.244.${first.index}.0/24`, "via", first.address);
  await first.run("ip", "route", "add", `10.244.${index}.0/24`, "via", address);
}
