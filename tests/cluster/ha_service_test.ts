// As in a cluster: the API server reaches the webhooks through the Service of the manifests, with certificates that the service
// makes itself, and the endpoints follow a replica's end late, as they do. Nobody notices a rolling update.
import assert from "node:assert/strict";
import { hostAddress, lacks } from "../support/needs.ts";
import { renderFolder } from "../../manifests/generate/kustomize.ts";
import { SCHEDULING_GATE, WebhookName } from "../../lib/names.ts";
import { readAuditLog } from "./support/audit_log.ts";
import { type ClusterAccess, expectStatus, read } from "./support/cluster_access.ts";
import { type ControlPlane, startControlPlane } from "./support/control_plane.ts";
import { failedWebhookCalls, startPodLoad } from "./support/pod_load.ts";
import { isReleased, listPods } from "./support/pods.ts";
import { findFreePort } from "./support/ports.ts";
import { RunningProcess } from "./support/process.ts";
import { pause, waitUntil } from "./support/wait.ts";

const MAIN = new URL("../../main.ts", import.meta.url).pathname;
const NAMESPACE = "archway-system";
const GROUP = "/apis/multiarch.openshift.io";
const CONFIG = `${GROUP}/v1beta1/clusterpodplacementconfigs/cluster`;
const WEBHOOK = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${WebhookName.configuration}`;
const SLICES = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`;
/** How long the endpoints take to follow a pod's end. */
const PROPAGATION_MS = 1_500;
/** `terminationGracePeriodSeconds` of the Deployment. */
const GRACE_MS = 30_000;

const address = hostAddress();

/** The manifests, but the Service leads to endpoints of our own and the Deployment has no pods. */
async function applyBase(cluster: ClusterAccess): Promise<void> {
  const objects = (await renderFolder("base")).map((object) => {
    const spec = Object.assign({}, object["spec"]);
    if (object.kind === "Service" && object.metadata.name === "archway-webhook") {
      const { selector: _selector, ...rest } = Object.assign({ selector: undefined }, spec);
      return { ...object, spec: rest };
    }
    return object.kind === "Deployment" ? { ...object, spec: { ...spec, replicas: 0 } } : object;
  });
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  const { code, stderr } = await cluster.kubectl(["apply", "--server-side", "-f", "-"], { stdin });
  assert.equal(code, 0, stderr);
}

/** A replica as a pod of the Deployment, with the endpoint that the cluster keeps for it. */
class Replica implements AsyncDisposable {
  readonly #cluster: ClusterAccess;
  readonly #name: string;
  readonly #kubeconfig: string;
  readonly #ports = { webhook: findFreePort(), admin: findFreePort() };
  #process: RunningProcess | undefined;

  constructor(cluster: ClusterAccess, options: { readonly name: string; readonly kubeconfig: string }) {
    this.#cluster = cluster;
    this.#name = options.name;
    this.#kubeconfig = options.kubeconfig;
  }

  async start(): Promise<void> {
    this.#process = RunningProcess.start({
      name: this.#name,
      command: Deno.execPath(),
      args: [
        ...["run", "-A", "--unstable-kv", "--no-check", MAIN, "serve", "--tls-mode=self"],
        `--kubeconfig=${this.#kubeconfig}`,
        `--namespace=${NAMESPACE}`,
        `--identity=${this.#name}`,
        `--listen=0.0.0.0:${this.#ports.webhook}`,
        `--admin-listen=127.0.0.1:${this.#ports.admin}`,
        "--max-gate-age=600s",
      ],
      directory: this.#cluster.directory,
    });
    await this.#process.waitReady(async () => await this.#ask("/readyz") === 200);
    const slice = {
      ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
      metadata: { name: this.#name, labels: { "kubernetes.io/service-name": "archway-webhook" } },
      ports: [{ name: "webhook", protocol: "TCP", port: this.#ports.webhook }],
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    };
    expectStatus("add the endpoint", await this.#cluster.request("POST", SLICES, slice), [201]);
  }

  /** As the kubelet ends a pod, while the endpoints follow; answers the exit code. */
  async stop(): Promise<number> {
    const ending = this.#process?.stop({ graceMs: GRACE_MS });
    await pause(PROPAGATION_MS);
    expectStatus("drop the endpoint", await this.#cluster.request("DELETE", `${SLICES}/${this.#name}`), [200]);
    return (await ending)?.code ?? -1;
  }

  async metric(name: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.#ports.admin}/metrics`);
    return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await response.text())?.[1] ?? NaN);
  }

  async #ask(path: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.#ports.admin}${path}`);
    await response.body?.cancel();
    return response.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.stop();
  }
}

async function createConfig(cluster: ControlPlane): Promise<void> {
  const config = {
    ...{ apiVersion: "multiarch.openshift.io/v1beta1", kind: "ClusterPodPlacementConfig" },
    ...{ metadata: { name: "cluster" }, spec: {} },
  };
  // Refused until the CA is in the validating webhooks: they, too, are reached through the Service.
  await waitUntil(
    "the configuration to be accepted",
    async () => (await cluster.request("POST", `${GROUP}/v1beta1/clusterpodplacementconfigs`, config)).status === 201,
  );
  await waitUntil("the webhook", async () => (await cluster.request("GET", WEBHOOK)).status === 200);
}

Deno.test({
  name:
    "ha: behind its Service, with its own certificates: a rolling update under load fails no call and misses no pod",
  ignore: lacks("address"),
  fn: async () => {
    const flags = { "kube-apiserver": ["--enable-aggregator-routing=true"] };
    await using cluster = await startControlPlane({ auditLog: true, flags });
    await cluster.addNodes([{ name: "amd64-1", arch: "amd64" }]);
    await applyBase(cluster);
    const kubeconfig = await cluster.serviceAccountKubeconfig({ namespace: NAMESPACE, name: "archway" });
    await using first = new Replica(cluster, { name: "first", kubeconfig });
    await using second = new Replica(cluster, { name: "second", kubeconfig });
    await first.start();
    await second.start();
    await createConfig(cluster);

    const client = read((await cluster.request("GET", WEBHOOK)).body, "webhooks", "0", "clientConfig");
    const service = { namespace: NAMESPACE, name: "archway-webhook", path: "/add-pod-scheduling-gate", port: 443 };
    assert.deepEqual(read(client, "service"), service);
    assert.match(atob(String(read(client, "caBundle"))), /BEGIN CERTIFICATE/);
    const converted = await cluster.request("GET", CONFIG.replace("v1beta1", "v1alpha1"));
    assert.equal(read(converted.body, "apiVersion"), "multiarch.openshift.io/v1alpha1", JSON.stringify(converted));

    await waitUntil("both to gate", async () => {
      const gating = await Promise.all([first, second].map((replica) => replica.metric("archway_gating")));
      return gating.every((value) => value === 1);
    });
    const namespace = await cluster.createNamespace("service");
    const images = ["registry.invalid/team/app:1"];
    // The API server learns of the webhook a moment after it was stored.
    await waitUntil("a pod to be gated", async () => {
      const probe = { name: `probe-${crypto.randomUUID()}`, image: images[0] };
      const pod = { metadata: { name: probe.name }, spec: { containers: [{ name: "main", image: probe.image }] } };
      const created = await cluster.request("POST", `/api/v1/namespaces/default/pods`, pod);
      return read(created.body, "spec", "schedulingGates") !== undefined;
    });
    const before = await failedWebhookCalls(cluster);
    const load = startPodLoad(cluster, namespace, { images });
    for (const replica of [first, second]) {
      const created = load.created();
      await waitUntil("some load before the end", () => load.created() >= created + 20);
      assert.equal(await replica.stop(), 0);
      const ended = load.created();
      await waitUntil("some load without it", () => load.created() >= ended + 20);
      await replica.start();
    }
    const { failures } = await load.stop();
    assert.deepEqual(failures, []);
    assert.equal(await failedWebhookCalls(cluster) - before, 0);
    const pods = await listPods(cluster, namespace);
    const missed = pods.filter((pod) => isReleased(pod) || pod.labels[SCHEDULING_GATE] !== "gated");
    assert.deepEqual(missed.map(({ name }) => name), []);

    const requests = await readAuditLog(cluster.auditLogFile ?? assert.fail("no audit log"));
    const ofRollout = requests.filter(({ resource, name, user }) =>
      resource === "deployments" && name === "archway" && user.endsWith(`:${NAMESPACE}:archway`)
    );
    assert.ok(ofRollout.some(({ status }) => status === 200), "the roll-out of its own Deployment is followed");
    assert.deepEqual(ofRollout.filter(({ status }) => status === 403), []);
  },
});
