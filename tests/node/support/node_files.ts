// The configuration files of a node's daemons. Pure.
import { stringify } from "yaml";
import { labName, type NodeHost } from "./node_host.ts";
import { CNI_FOLDER } from "./requirements.ts";

export interface NodeFilesInput {
  readonly host: Pick<NodeHost, "name" | "index" | "address" | "directory">;
  readonly caFile: string;
  /** Of the OCI runtime: runc, or what stands in front of it. */
  readonly runtime: string;
  readonly proxyKubeconfigFile: string;
  readonly plainRegistries: readonly string[];
}

export function renderNodeFiles(input: NodeFilesInput): Readonly<Record<string, string>> {
  const files: Record<string, string> = {
    "cni/10-bridge.conflist": JSON.stringify(renderNetwork(input), undefined, 2),
    "containerd.toml": renderContainerd(input),
    "kubelet.yaml": stringify(renderKubelet(input)),
    "proxy.yaml": stringify(renderProxy(input)),
  };
  for (const host of input.plainRegistries) files[`certs.d/${host}/hosts.toml`] = `server = "http://${host}"\n`;
  return files;
}

function renderNetwork({ host }: NodeFilesInput): unknown {
  const ranges = [[{ subnet: `10.244.${host.index}.0/24` }]];
  const ipam = { type: "host-local", dataDir: `${host.directory}/ipam`, ranges, routes: [{ dst: "0.0.0.0/0" }] };
  return {
    cniVersion: "1.0.0",
    name: "pods",
    plugins: [
      { type: "bridge", bridge: "cni0", isGateway: true, hairpinMode: true, ipam },
      { type: "portmap", capabilities: { portMappings: true } },
    ],
  };
}

function renderContainerd({ host: { directory }, runtime }: NodeFilesInput): string {
  // restrict_oom_score_adj: without it no sandbox starts where the machine does not let us lower the score.
  return `version = 4
root = '${directory}/containerd'
state = '${directory}/containerd-run'
disabled_plugins = ['io.containerd.nri.v1.nri', 'io.containerd.internal.v1.opt', 'io.containerd.tracing.processor.v1.otlp']
[plugins.'io.containerd.server.v1.grpc']
address = '${directory}/containerd.sock'
[plugins.'io.containerd.server.v1.ttrpc']
address = '${directory}/containerd.sock.ttrpc'
[plugins.'io.containerd.cri.v1.images']
snapshotter = 'overlayfs'
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = 'localhost/pause:1'
[plugins.'io.containerd.cri.v1.images'.registry]
config_path = '${directory}/certs.d'
[plugins.'io.containerd.cri.v1.runtime']
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ['${CNI_FOLDER}']
conf_dir = '${directory}/cni'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
BinaryName = '${runtime}'
Root = '${directory}/runc'
SystemdCgroup = false
`;
}

function renderKubelet({ host: { name, address, directory }, caFile }: NodeFilesInput): unknown {
  const never = { "memory.available": "1Mi", "nodefs.available": "1Mi", "imagefs.available": "1Mi" };
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: false },
      x509: { clientCAFile: caFile },
    },
    authorization: { mode: "AlwaysAllow" },
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${labName()}-${name}`,
    failCgroupV1: false,
    failSwapOn: false,
    featureGates: { KubeletInUserNamespace: true },
    containerRuntimeEndpoint: `unix://${directory}/containerd.sock`,
    evictionHard: { ...never, "nodefs.inodesFree": "1", "imagefs.inodesFree": "1" },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    maxOpenFiles: 20_000,
    maxPods: 100,
    serializeImagePulls: false,
    // By default five pulls a second: a pod beyond that waits ten seconds for its next attempt.
    registryPullQPS: 0,
    nodeStatusUpdateFrequency: "2s",
    volumePluginDir: `${directory}/volume-plugins`,
    podLogsDir: `${directory}/pod-logs`,
  };
}

function renderProxy({ host: { name, address }, proxyKubeconfigFile }: NodeFilesInput): unknown {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    clientConnection: { kubeconfig: proxyKubeconfigFile },
    mode: "nftables",
    clusterCIDR: "10.244.0.0/16",
    hostnameOverride: name,
    oomScoreAdj: 0,
    bindAddress: address,
    healthzBindAddress: `${address}:10256`,
    metricsBindAddress: "127.0.0.1:10249",
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
    nftables: { syncPeriod: "5s", minSyncPeriod: "0s" },
  };
}
