// As in a cluster: the API server reaches the webhooks through the Service of the manifests. Its endpoints are replicas on this
// machine.
import type { ManifestObject } from "../../../manifests/generate/kustomize.ts";
import { hostAddress } from "../../support/needs.ts";
import { type ClusterAccess, read } from "./cluster_access.ts";
import { clusterConfig, CONFIGS, POD_WEBHOOK } from "./objects.ts";
import { renderPod } from "./pods.ts";
import { findFreePort } from "./ports.ts";
import { type RunningProcess, startArchway } from "./process.ts";
import { pause, waitUntil } from "./wait.ts";

export const NAMESPACE = "archway-system";

const SLICES = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`;
/** How long the endpoints take to follow a pod's end. */
const PROPAGATION_MS = 1_500;
/** `terminationGracePeriodSeconds` of the Deployment. */
const GRACE_MS = 30_000;

const address = hostAddress();

/**
 * Applies manifests, but the Service of the webhooks leads to endpoints of our own. `pods`: `none`, or as many of the Deployment
 * as the manifests say, which kwok plays: they have the state of a roll-out and answer nothing.
 */
export async function applyBehindService(
  cluster: ClusterAccess,
  { objects, pods }: { readonly objects: readonly ManifestObject[]; readonly pods: "none" | "played" },
): Promise<void> {
  const items = objects.map((object) => {
    const spec = Object.assign({}, object["spec"]);
    if (object.kind === "Service" && object.metadata.name === "archway-webhook") {
      const { selector: _selector, ...rest } = Object.assign({ selector: undefined }, spec);
      return { ...object, spec: rest };
    }
    return object.kind === "Deployment" && pods === "none" ? { ...object, spec: { ...spec, replicas: 0 } } : object;
  });
  await cluster.apply(items);
}

export async function enableBehindService(cluster: ClusterAccess): Promise<void> {
  // Refused until the CA is in the validating webhooks: they, too, are reached through the Service.
  await waitUntil(
    "the configuration to be accepted",
    async () => (await cluster.request("POST", CONFIGS, clusterConfig())).status === 201,
  );
  await waitUntil("the webhook", () => cluster.exists(POD_WEBHOOK));
}

/** Waits until a pod is gated, and gives its path: the API server learns of a webhook a moment after it was stored. */
export async function untilGated(cluster: ClusterAccess, namespace = "default"): Promise<string> {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  return await waitUntil("a pod to be gated", async () => {
    const name = `probe-${crypto.randomUUID()}`;
    const created = await cluster.request("POST", pods, renderPod({ name, images: ["registry.invalid/team/app:1"] }));
    return read(created.body, "spec", "schedulingGates") !== undefined && `${pods}/${name}`;
  });
}

/** A replica as a pod of the Deployment, with the endpoint that the cluster keeps for it. */
export class ServiceReplica implements AsyncDisposable {
  readonly #cluster: ClusterAccess;
  readonly #name: string;
  readonly #args: readonly string[];
  readonly #ports = { webhook: findFreePort(), admin: findFreePort() };
  #process: RunningProcess | undefined;

  /** `args` are those of `serve`. */
  constructor(
    cluster: ClusterAccess,
    options: { readonly name: string; readonly kubeconfig: string; readonly args: readonly string[] },
  ) {
    this.#cluster = cluster;
    this.#name = options.name;
    this.#args = [
      ...options.args,
      `--kubeconfig=${options.kubeconfig}`,
      `--namespace=${NAMESPACE}`,
      `--listen=0.0.0.0:${this.#ports.webhook}`,
    ];
  }

  /** Of the webhooks, on any address of this machine. */
  get webhookPort(): number {
    return this.#ports.webhook;
  }

  async start(): Promise<void> {
    const [name, { directory }, { admin: adminPort }] = [this.#name, this.#cluster, this.#ports];
    this.#process = await startArchway(["serve", ...this.#args], {
      name,
      directory,
      adminPort,
      env: { POD_NAME: name },
    });
    const slice = {
      ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
      metadata: { name: this.#name, labels: { "kubernetes.io/service-name": "archway-webhook" } },
      ports: [{ name: "webhook", protocol: "TCP", port: this.#ports.webhook }],
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    };
    await this.#cluster.create(SLICES, slice);
  }

  /** As the kubelet ends a pod, while the endpoints follow; answers the exit code. */
  async stop(): Promise<number> {
    const ending = this.#process?.stop({ graceMs: GRACE_MS });
    await pause(PROPAGATION_MS);
    await this.#cluster.delete(`${SLICES}/${this.#name}`);
    return (await ending)?.code ?? -1;
  }

  async metric(name: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.#ports.admin}/metrics`);
    return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await response.text())?.[1] ?? NaN);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.stop();
  }
}
