// A cluster of real nodes for the tests of one run: control plane, registry, n1 and n3 (amd64), n2 (arm64, emulated).
// Runs inside of n1's network namespace; see run.ts.
import { type ControlPlane, startControlPlane } from "../../cluster/support/control_plane.ts";
import { renderCoordinates } from "../../cluster/support/coordinates.ts";
import { type RealRegistry, startRegistry } from "../../cluster/support/registry.ts";
import { writeEmulation } from "./emulation.ts";
import { serveLabControl } from "./lab_control.ts";
import { startNode } from "./node.ts";
import { describeHost, type NodeHost, openNodeHost } from "./node_host.ts";
import { buildProgramImage, type NodeArch, type ProgramImage, writeOciArchive } from "./program_images.ts";
import type { NodePrograms } from "./programs.ts";

/** Name of the environment variable with the {@link LabCoordinates} as JSON. */
export const LAB_VARIABLE = "ARCHWAY_TEST_NODES";

export interface LabCoordinates {
  readonly controlPlane: string;
  /** HOST:PORT of a registry over plain HTTP with the images of {@link LAB_IMAGES}. */
  readonly registry: string;
  /** Address of the API server for pods and nodes. */
  readonly apiServerUrl: string;
  readonly directory: string;
  readonly hosts: readonly LabHost[];
  /** Where nodes and control plane can be ended and started again: see outages.ts. */
  readonly controlUrl: string;
}

export interface LabHost {
  readonly name: string;
  readonly index: number;
  readonly arch: NodeArch;
  readonly holderPid: number;
  readonly directory: string;
  readonly address: string;
}

/** The nodes of a lab. n3 is there so that two replicas find two native nodes. */
export const LAB_NODES = [
  { name: "n1", arch: "amd64" },
  { name: "n3", arch: "amd64" },
  { name: "n2", arch: "arm64" },
] as const satisfies readonly { readonly name: string; readonly arch: NodeArch }[];

const BOTH = [{ claims: "amd64" }, { claims: "arm64" }] as const;

/** The images that the registry has, as `t/NAME:v1`. */
export const LAB_IMAGES: Readonly<Record<string, ProgramImage>> = {
  "multi": { kind: "index", platforms: BOTH },
  "amd-index": { kind: "index", platforms: [{ claims: "amd64" }] },
  "arm-index": { kind: "index", platforms: [{ claims: "arm64" }] },
  "amd-single": { kind: "single", platform: { claims: "amd64" } },
  "arm-single": { kind: "single", platform: { claims: "arm64" } },
  "lying-index": { kind: "index", platforms: [{ claims: "amd64", holds: "arm64" }, { claims: "arm64" }] },
  "lying-single": { kind: "single", platform: { claims: "amd64", holds: "arm64" } },
};

/** What is running. Everything ends with the cgroups of its hosts. */
export interface Lab extends AsyncDisposable {
  readonly coordinates: LabCoordinates;
}

/** Where a lab's first host is: this process runs in its network namespace. */
export interface LabOptions {
  readonly directory: string;
  readonly holderPid: number;
  readonly programs: NodePrograms;
  readonly onProgress: (line: string) => void;
}

/** Starts all of it. Throws, with the end of a log, when a part does not come up. */
export async function startLab({ directory, holderPid, programs, onProgress }: LabOptions): Promise<Lab> {
  await using undo = new AsyncDisposableStack();
  const first = describeHost({ name: "n1", index: 1, directory: `${directory}/n1` }, { holderPid });
  const realNodes = { address: first.address, names: LAB_NODES.map(({ name }) => name) };
  const controlPlane = undo.use(await startControlPlane({ auditLog: true, realNodes }));
  onProgress("the control plane is ready");
  const apiServerUrl = `https://${first.address}:${new URL(controlPlane.url).port}`;
  const registry = undo.use(await startRegistry({ tls: false, address: first.address }));
  await Promise.all([pushImages(registry, programs), allowProxy(controlPlane)]);
  const pauseArchive = `${directory}/pause.tar`;
  const pause = await buildProgramImage({ kind: "single", platform: { claims: "amd64" } }, programs.app);
  await writeOciArchive(pauseArchive, "localhost/pause:1", pause);
  const hosts = await openHosts(first, directory);
  const nodes = hosts.map((host, position) => {
    const { arch } = LAB_NODES[position] ?? { arch: "amd64" };
    const plainRegistries = [registry.host];
    return { host, arch, programs, controlPlane, apiServerUrl, plainRegistries, pauseArchive };
  });
  await Promise.all(nodes.map(async (node) => {
    await startNode(node);
    onProgress(`node ${node.host.name} (${node.arch}) is Ready`);
  }));
  const control = undo.use(serveLabControl({ controlPlane, nodes }));
  const opened = undo.move();
  return {
    coordinates: {
      controlPlane: renderCoordinates(controlPlane),
      registry: registry.host,
      apiServerUrl,
      directory,
      hosts: nodes.map(({ host, arch }) => toLabHost(host, arch)),
      controlUrl: control.url,
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** In the order of {@link LAB_NODES}; index 1 is the first host, which is there. */
async function openHosts(first: NodeHost, directory: string): Promise<readonly NodeHost[]> {
  const hosts: NodeHost[] = [];
  for (const [position, { name, arch }] of LAB_NODES.entries()) {
    const options = { name, index: position + 1, directory: `${directory}/${name}` };
    const emulated = arch === "amd64" ? {} : { emulation: await writeEmulation(directory) };
    hosts.push(position === 0 ? first : await openNodeHost({ ...options, ...emulated }, first));
  }
  return hosts;
}

function toLabHost({ name, index, holderPid, directory, address }: NodeHost, arch: NodeArch): LabHost {
  return { name, index, arch, holderPid, directory, address };
}

async function pushImages(registry: RealRegistry, programs: NodePrograms): Promise<void> {
  for (const [name, image] of Object.entries(LAB_IMAGES)) {
    await registry.pushDocuments(`t/${name}`, "v1", await buildProgramImage(image, programs.app));
  }
}

async function allowProxy({ create }: Pick<ControlPlane, "create">): Promise<void> {
  await create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "kube-proxy" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:node-proxier" },
    subjects: [{ kind: "User", name: "system:kube-proxy" }],
  });
}
