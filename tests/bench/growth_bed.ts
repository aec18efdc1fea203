// The cluster of one growth point: plain Node objects without kubelets, namespaces with PodPlacementConfigs, and a registry
// double in memory. No scheduler runs: Archway's part ends with the release, and 20 000 real pushes would take an hour.
import { issueLoopbackCertificates } from "../../playground/listen.ts";
import { Archway, enablePlacement, installArchway } from "../cluster/support/archway.ts";
import { type ClusterAccess } from "../cluster/support/cluster_access.ts";
import { startControlPlane } from "../cluster/support/control_plane.ts";
import { GROUP, localConfig } from "../cluster/support/objects.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { makeEntry, makeImage, makeIndex } from "../support/documents.ts";
import { openFakeRegistry } from "../support/registry.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { scoring } from "../support/walk/preference_rows.ts";
import { type ApiCounter, startApiCounter } from "./api_counter.ts";
import { asInstalled } from "./as_installed.ts";
import { forEach } from "./for_each.ts";
import type { GrowthPoint } from "./growth_axes.ts";

export interface GrowthBed extends AsyncDisposable {
  readonly cluster: ClusterAccess;
  readonly counter: ApiCounter;
  readonly archway: Archway;
  readonly images: readonly string[];
  readonly namespaces: readonly string[];
}

const NODE_WATCHERS = new URL("../../manifests/components/live-architectures/role.yaml", import.meta.url).pathname;

export async function openGrowthBed(point: GrowthPoint): Promise<GrowthBed> {
  await using undo = new AsyncDisposableStack();
  const { path: directory } = undo.use(await temporaryFolder());
  // Nodes without kubelets are no concern of these.
  const controllers = ["--controllers=*,-node-lifecycle-controller,-node-ipam-controller,-ttl-controller"];
  const flags = { "kube-controller-manager": controllers };
  const cluster = undo.use(await startControlPlane({ without: ["kube-scheduler", "kwok"], flags }));
  const kubeconfigFile = await installArchway(cluster);
  await cluster.run(["apply", "-f", NODE_WATCHERS]);
  await forEach(point.nodes, (number) => createNode(cluster, number));
  const namespaces = Array.from({ length: point.namespaces }, (_, number) => `growth-${number}`);
  await forEach(point.namespaces, (number) => createNamespace(cluster, namespaces[number] ?? ""));
  if (point.running !== undefined) await createRunningPods(cluster, point, point.running);

  const certificates = await issueLoopbackCertificates(Date.now());
  const caFile = `${directory}/registry-ca.crt`;
  await Deno.writeTextFile(caFile, certificates.authority);
  const registry = undo.use(await openFakeRegistry({ certificate: certificates.serving }));
  const counter = undo.use(await startApiCounter(cluster, { kubeconfigFile, certificates }));
  const images = Array.from({ length: point.images }, (_, number) => {
    registry.put(`growth/app-${number % 100}`, renderIndex(number), `v${number}`);
    return `${registry.host}/growth/app-${number % 100}:v${number}`;
  });
  const archway = undo.use(
    await Archway.start({
      kubeconfigFile: counter.kubeconfigFile,
      ...await asInstalled(),
      persistCache: true,
      registries: [{ host: registry.host, caFile }],
      args: ["--warm-admission=false", "--live-architectures"],
    }),
  );
  await enablePlacement(cluster);
  await waitUntil("it to lead and gate", async () => await archway.metric("archway_gating") === 1);
  const owned = undo.move();
  return { cluster, counter, archway, images, namespaces, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function renderIndex(number: number): ReturnType<typeof makeIndex> {
  const entries = ["amd64", "arm64"].map((architecture) =>
    makeEntry(makeImage({ architecture }).manifest, { platform: { os: "linux", architecture } })
  );
  return makeIndex(entries, { body: { annotations: { "org.opencontainers.image.version": String(number) } } });
}

/** A node as large as a kubelet makes it: the images it holds are most of it. */
async function createNode(cluster: ClusterAccess, number: number): Promise<void> {
  const name = `node-${number}`;
  const architecture = number % 2 === 0 ? "amd64" : "arm64";
  const images = Array.from({ length: 50 }, (_, image) => ({
    names: [
      `registry.example.com/team/app-${image}@sha256:${"0".repeat(64)}`,
      `registry.example.com/team/app-${image}:v1`,
    ],
    sizeBytes: 100_000_000 + image,
  }));
  await cluster.create("/api/v1/nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/arch": architecture, "kubernetes.io/os": "linux" } },
    status: {
      capacity: { cpu: "8", memory: "32Gi", pods: "110" },
      images,
      nodeInfo: { architecture, operatingSystem: "linux" },
    },
  });
}

async function createRunningPods(cluster: ClusterAccess, point: GrowthPoint, count: number): Promise<void> {
  // The controller makes 20 a second.
  await forEach(point.namespaces, async (number) => {
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
    await cluster.request("POST", `/api/v1/namespaces/growth-${number}/serviceaccounts`, account);
  });
  await forEach(count, (number) => createRunning(cluster, number, point));
}

/** A pod that runs on its node since before Archway came. */
async function createRunning(cluster: ClusterAccess, number: number, point: GrowthPoint): Promise<void> {
  const pods = `/api/v1/namespaces/growth-${number % point.namespaces}/pods`;
  const name = `running-${number}`;
  await cluster.create(pods, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { app: `app-${number % 1_000}` } },
    spec: {
      nodeName: `node-${number % point.nodes}`,
      automountServiceAccountToken: false,
      containers: [{ name: "main", image: `registry.example.com/team/app-${number % 1_000}:v1` }],
    },
  });
  await cluster.patch(`${pods}/${name}/status`, { status: { phase: "Running" } });
}

async function createNamespace(cluster: ClusterAccess, name: string): Promise<void> {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  await cluster.create("/api/v1/namespaces", namespace);
  const config = localConfig("prefer", { plugins: scoring(true, ["amd64", 60], ["arm64", 40]) });
  await cluster.create(`${GROUP}/namespaces/${name}/podplacementconfigs`, config);
}
