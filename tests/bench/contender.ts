// Who is measured: Archway, or a reference operator that a command starts, on the same control plane and registry.
import { type Archway, disablePlacement, enablePlacement } from "../cluster/support/archway.ts";
import { type ClusterAccess, read } from "../cluster/support/cluster_access.ts";
import { RunningProcess } from "../cluster/support/process.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import type { WalkBed } from "../cluster/support/walk_bed.ts";
import { asInstalled } from "./as_installed.ts";

/** One of them, at work: its webhook is registered and it places pods. Dispose it to be rid of it and of its webhook. */
export interface Contender extends AsyncDisposable {
  readonly name: string;
}

/** Starts one on a bed; `spec` is that of its ClusterPodPlacementConfig. */
export type StartContender = (bed: WalkBed, spec?: unknown) => Promise<Contender>;

const WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const REFERENCE_DEADLINE_MS = 120_000;

export interface ArchwayContender extends Contender {
  readonly archway: Archway;
}

/** Starts a replica as the manifests run it, and waits until it leads and gates. */
export async function startArchwayContender(
  bed: WalkBed,
  { spec = {}, args = [] }: { readonly spec?: unknown; readonly args?: readonly string[] } = {},
): Promise<ArchwayContender> {
  const name = `bench-${crypto.randomUUID().slice(0, 8)}`;
  const archway = await bed.startReplica({ name, args, persistCache: true, ...await asInstalled() });
  await enablePlacement(bed.controlPlane, spec);
  await waitUntil("it to lead and gate", async () => await archway.metric("archway_gating") === 1);
  return {
    name: "archway",
    archway,
    [Symbol.asyncDispose]: async () => {
      await disablePlacement(bed.controlPlane);
      await archway.stop();
    },
  };
}

/**
 * Starts a reference operator by a shell command. It finds KUBECONFIG (of an admin), SSL_CERT_FILE (the registry's CA) and
 * a ClusterPodPlacementConfig; it must register its webhook by URL and stay in the foreground.
 */
export function referenceStarter(command: string): StartContender {
  return async (bed, spec = {}) => {
    const { controlPlane, proxy } = bed;
    await using undo = new AsyncDisposableStack();
    const directory = await Deno.makeTempDir({ prefix: "archway-reference-" });
    undo.defer(() => Deno.remove(directory, { recursive: true }));
    const process = undo.use(RunningProcess.start({
      name: "reference",
      command: "sh",
      args: ["-c", `exec ${command}`],
      directory,
      env: { KUBECONFIG: controlPlane.kubeconfigFile, SSL_CERT_FILE: proxy.caFile, REGISTRY: proxy.host },
    }));
    undo.defer(() => removeWebhooks(controlPlane));
    await createConfig(controlPlane, spec);
    undo.defer(() => removeConfig(controlPlane));
    await process.waitReady(async () => (await listWebhooks(controlPlane)).length > 0, {
      deadlineMs: REFERENCE_DEADLINE_MS,
    });
    const owned = undo.move();
    return { name: "reference", [Symbol.asyncDispose]: () => owned.disposeAsync() };
  };
}

const CONFIGS = "/apis/multiarch.openshift.io/v1beta1/clusterpodplacementconfigs";

async function createConfig(cluster: ClusterAccess, spec: unknown): Promise<void> {
  const metadata = { name: "cluster" };
  const kind = "ClusterPodPlacementConfig";
  await cluster.request("POST", CONFIGS, { apiVersion: "multiarch.openshift.io/v1beta1", kind, metadata, spec });
}

/** An operator that is there lets go of its config; for one that does not, its finalizers are taken off. */
async function removeConfig(cluster: ClusterAccess): Promise<void> {
  const config = `${CONFIGS}/cluster`;
  await cluster.request("DELETE", config);
  const isGone = async (): Promise<boolean> => (await cluster.request("GET", config)).status === 404;
  await waitUntil("the config to go", isGone, { deadlineMs: 10_000 }).catch(async () => {
    await cluster.request("PATCH", config, { metadata: { finalizers: null } });
    await waitUntil("the config to go without its finalizers", isGone);
  });
}

async function listWebhooks(cluster: ClusterAccess): Promise<readonly string[]> {
  const items = read((await cluster.request("GET", WEBHOOKS)).body, "items");
  return Array.isArray(items) ? items.map((item) => String(read(item, "metadata", "name"))) : [];
}

async function removeWebhooks(cluster: ClusterAccess): Promise<void> {
  for (const name of await listWebhooks(cluster)) await cluster.request("DELETE", `${WEBHOOKS}/${name}`);
}
