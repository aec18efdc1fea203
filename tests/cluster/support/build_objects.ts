// The objects of OpenShift that node images are built of, as tests want them. Pure.

export const BUILD_NAMESPACE = "openshift-machine-config-operator";

const API_VERSION = "machineconfiguration.openshift.io/v1";

export interface WantedConfig {
  readonly pool?: string;
  readonly containerFile?: readonly { readonly containerfileArch?: string; readonly content: string }[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly repository?: string;
  readonly tag?: string;
  readonly pushSecret?: string;
  readonly pullSecret?: string;
}

export interface WantedRendered {
  readonly kernelArguments?: readonly string[];
  readonly kernelType?: string;
  readonly extensions?: readonly string[];
  readonly osImageURL?: string;
  /** Version of OpenShift; default 4.23.0. */
  readonly release?: string;
  /** Texts by path. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface WantedNode {
  readonly name: string;
  readonly arch: string;
  readonly pool?: string;
}

export function entry(containerfileArch: string, text: string): { containerfileArch: string; content: string } {
  return { containerfileArch, content: `FROM configs AS final\nRUN echo ${text}\n` };
}

/** What every architecture's image is made of. */
export function content(text: string): Pick<WantedConfig, "containerFile"> {
  return { containerFile: [entry("NoArch", text)] };
}

/** Two entries, so that each architecture is built by itself. */
export function contents(amd64: string, arm64 = amd64): Pick<WantedConfig, "containerFile"> {
  return { containerFile: [entry("NoArch", amd64), entry("ARM64", arm64)] };
}

export function renderPool(name: string, rendered: string): unknown {
  return {
    apiVersion: API_VERSION,
    kind: "MachineConfigPool",
    metadata: { name, labels: { [`pools.operator.machineconfiguration.openshift.io/${name}`]: "" } },
    spec: {
      configuration: { name: rendered, source: [] },
      machineConfigSelector: { matchLabels: { "machineconfiguration.openshift.io/role": name } },
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: "" } },
    },
  };
}

export function renderRendered(name: string, wanted: WantedRendered & { readonly osImageURL: string }): unknown {
  const { osImageURL, kernelArguments = [], extensions = [], kernelType = "", release = "4.23.0" } = wanted;
  const { files = { "/etc/motd": "none" } } = wanted;
  const written = Object.entries(files).map(([path, text]) => (
    { path, contents: { source: `data:,${encodeURIComponent(text)}` } }
  ));
  return {
    apiVersion: API_VERSION,
    kind: "MachineConfig",
    metadata: {
      name,
      annotations: {
        "machineconfiguration.openshift.io/generated-by-controller-version": "1",
        "machineconfiguration.openshift.io/release-image-version": release,
      },
    },
    spec: {
      osImageURL,
      kernelArguments,
      extensions,
      kernelType,
      // The latest that Debian's ignition takes.
      config: { ignition: { version: "3.3.0" }, storage: { files: written } },
    },
  };
}

export function renderNode({ name, arch, pool = "worker" }: WantedNode, lastHeartbeatTime: string): unknown {
  const resources = { cpu: "64", memory: "256Gi", pods: "200", "ephemeral-storage": "1Ti" };
  const labels = {
    "kubernetes.io/arch": arch,
    "kubernetes.io/os": "linux",
    "kubernetes.io/hostname": name,
    [`node-role.kubernetes.io/${pool}`]: "",
  };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels },
    status: {
      allocatable: resources,
      capacity: resources,
      nodeInfo: { architecture: arch, operatingSystem: "linux" },
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", lastHeartbeatTime }],
    },
  };
}

/** The MachineOSConfig of a pool. `repository`: with its registry. */
export function renderConfig(wanted: WantedConfig, repository: string): unknown {
  const { pool = "worker", annotations = {} } = wanted;
  const spec = renderConfigSpec(wanted, repository);
  return { apiVersion: API_VERSION, kind: "MachineOSConfig", metadata: { name: pool, annotations }, spec };
}

export function renderConfigSpec(wanted: WantedConfig, repository: string): unknown {
  const { pool = "worker", containerFile = [], tag = "latest", pushSecret = "push", pullSecret } = wanted;
  return {
    machineConfigPool: { name: pool },
    imageBuilder: { imageBuilderType: "Job" },
    renderedImagePushSecret: { name: pushSecret },
    ...(pullSecret === undefined ? {} : { baseImagePullSecret: { name: pullSecret } }),
    renderedImagePushSpec: `${repository}:${tag}`,
    containerFile,
  };
}
