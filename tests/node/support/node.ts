// One real node: containerd, kubelet and kube-proxy on a host of its own.
import { type ClusterAccess, conditionOf, read, renderKubeconfig } from "../../cluster/support/cluster_access.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import type { RunningProcess } from "../../cluster/support/process.ts";
import { findOnPath } from "../../support/go_build.ts";
import { AARCH64, QEMU } from "./emulation.ts";
import { renderNodeFiles } from "./node_files.ts";
import type { NodeHost } from "./node_host.ts";
import type { NodePrograms } from "./programs.ts";
import type { NodeArch } from "./program_images.ts";

export interface NodeOptions {
  readonly host: NodeHost;
  readonly arch: NodeArch;
  readonly programs: NodePrograms;
  readonly controlPlane: Pick<ClusterAccess, "url" | "caFile" | "caPem" | "request">;
  readonly apiServerUrl: string;
  readonly plainRegistries: readonly string[];
  readonly pauseArchive: string;
}

/** Starts the daemons, for the first time or again, and waits until the node is Ready. */
export async function startNode(options: NodeOptions): Promise<void> {
  const { host, programs } = options;
  const startedMs = Date.now();
  await writeFiles(options);
  const containerd = await startContainerd(options);
  const socket = `${host.directory}/containerd.sock`;
  const ctr = ["-a", socket, "-n", "k8s.io"];
  await containerd.waitReady(() => host.run(programs.ctr, "-a", socket, "version").then(() => true));
  await host.run(programs.ctr, ...ctr, "images", "import", options.pauseArchive);
  await startKubelet(options);
  host.start({
    name: "kube-proxy",
    command: programs.kubeProxy,
    args: [`--config=${host.directory}/proxy.yaml`],
    env: daemonEnvironment(programs),
  });
  await waitUntil(`node ${host.name} to be Ready`, () => isReadySince(options, startedMs), { deadlineMs: 120_000 });
}

async function writeFiles(
  { host, arch, programs, controlPlane, apiServerUrl, plainRegistries }: NodeOptions,
): Promise<void> {
  const proxyKubeconfigFile = `${host.directory}/proxy.kubeconfig`;
  const runtime = arch === "amd64" ? await needed("runc") : programs.runcEmulated;
  const files: Record<string, string> = {
    ...renderNodeFiles({ host, caFile: controlPlane.caFile, runtime, proxyKubeconfigFile, plainRegistries }),
    "kubelet.kubeconfig": renderKubeconfig({ ...controlPlane, url: apiServerUrl }, { token: `${host.name}-token` }),
    "proxy.kubeconfig": renderKubeconfig({ ...controlPlane, url: apiServerUrl }, { token: "proxy-token" }),
  };
  for (const [path, text] of Object.entries(files)) {
    const file = `${host.directory}/${path}`;
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(file, text, { mode: 0o600 });
  }
}

async function startContainerd({ host, arch, programs }: NodeOptions): Promise<RunningProcess> {
  const emulation = arch === "amd64" ? {} : {
    NODE_ARCH: arch,
    EMULATED_RUNC: await needed("runc"),
    EMULATED_QEMU: await needed(QEMU),
    EMULATED_MACHINE: String(AARCH64),
    EMULATED_FOREIGN: host.emulation?.foreign ?? "",
  };
  return host.start({
    name: "containerd",
    command: arch === "amd64" ? programs.containerd : programs.containerdAnyArch,
    args: ["--config", `${host.directory}/containerd.toml`],
    env: { ...daemonEnvironment(programs), ...emulation },
  });
}

async function startKubelet({ host, arch, programs }: NodeOptions): Promise<RunningProcess> {
  // A test may leave taints there for the next registration: `KEY=VALUE:EFFECT`.
  const taints = await Deno.readTextFile(`${host.directory}/register-with-taints`).catch(() => "");
  const [command, ...first] = arch === "amd64" ? [programs.kubelet] : [await needed(QEMU), programs.kubeletArm64];
  return host.start({
    name: "kubelet",
    command,
    args: [
      ...first,
      `--config=${host.directory}/kubelet.yaml`,
      `--kubeconfig=${host.directory}/kubelet.kubeconfig`,
      `--root-dir=${host.directory}/kubelet`,
      `--cert-dir=${host.directory}/pki`,
      `--hostname-override=${host.name}`,
      `--node-ip=${host.address}`,
      // How often containers are measured, which nothing here reads.
      "--housekeeping-interval=1m",
      ...taints === "" ? [] : [`--register-with-taints=${taints}`],
    ],
    env: daemonEnvironment(programs),
  });
}

/** containerd looks for its shim on the PATH, kube-proxy for nft, the kubelet for mount. */
function daemonEnvironment({ directory }: NodePrograms): Readonly<Record<string, string>> {
  return {
    PATH: `${directory}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    // Memory is there, processor time is short.
    GOGC: "400",
    GOMEMLIMIT: "512MiB",
  };
}

async function needed(command: string): Promise<string> {
  return await findOnPath(command) ?? `/usr/sbin/${command}`;
}

/** Whether this kubelet, not one before it, has said Ready. */
async function isReadySince({ host, controlPlane }: NodeOptions, startedMs: number): Promise<boolean> {
  const { status, body } = await controlPlane.request("GET", `/api/v1/nodes/${host.name}`);
  if (status !== 200) return false;
  const ready = conditionOf(body, "Ready");
  // The API server's times are whole seconds.
  return read(ready, "status") === "True" &&
    Date.parse(String(read(ready, "lastHeartbeatTime"))) >= startedMs - 1_000;
}
