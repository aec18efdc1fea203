// Least privilege, proved by the audit log: the service runs under its ServiceAccount through everything it does; a request
// that no role allows and a right that no request needed both fail the test.
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { renderComposition } from "../../manifests/generate/kustomize.ts";
import { type ClusterAccess, expectStatus, read } from "./support/cluster_access.ts";
import { type ControlPlane, startControlPlane } from "./support/control_plane.ts";
import { findFreePort } from "./support/ports.ts";
import { RunningProcess } from "./support/process.ts";
import { findIdle, findMissing, readRights, readUses, renderRight, type Use } from "./support/rights.ts";
import { waitUntil } from "./support/wait.ts";

const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));
const NAMESPACE = "archway-system";
const ACCOUNT = `system:serviceaccount:${NAMESPACE}:archway`;
const GROUP = "/apis/multiarch.openshift.io/v1beta1";
const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const WEBHOOK = `${ADMISSION}/mutatingwebhookconfigurations/pod-placement-mutating-webhook-configuration`;
const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Rights that this run need not use, and why they are granted. */
const EXCUSED: Readonly<Record<string, string>> = {
  "update clusterpodplacementconfigs.multiarch.openshift.io/finalizers (role archway-configs)":
    "asked by an admission plugin that OpenShift turns on, never by a request",
  [`get deployments.apps "archway" in ${NAMESPACE} (role archway-rollout)`]:
    "only a service that is reached through its Service has a Deployment",
  "get pods (role archway-pods)": "a pod is read again after someone else's write overtook ours",
};

/** Flags of the second life, and the components that go with them. */
const SWITCHES = ["--prewarm", "--live-architectures", "--daemonsets=warn"];
const COMPONENTS = ["prewarm", "live-architectures", "daemonsets-warn", "migration"].map((name) =>
  `components/${name}`
);

const JSON_PATCH = { contentType: "application/json-patch+json" };

/** The API server reaches us by URL here, not through a Service. */
async function pointWebhooksAt(cluster: ClusterAccess, baseUrl: string): Promise<void> {
  const target =
    `${ADMISSION}/validatingwebhookconfigurations/multiarch-tuning-operator-validating-webhook-configuration`;
  const { body } = await cluster.request("GET", target);
  const validating = [0, 1].map((at) => {
    const path = read(body, "webhooks", at, "clientConfig", "service", "path");
    return { op: "replace", path: `/webhooks/${at}/clientConfig`, value: { url: `${baseUrl}${path}` } };
  });
  expectStatus("point the validating webhooks", await cluster.request("PATCH", target, validating, JSON_PATCH), [200]);
  const conversion = [{
    ...{ op: "replace", path: "/spec/conversion/webhook/clientConfig" },
    value: { url: `${baseUrl}/convert` },
  }];
  const definition = `${CRD}/clusterpodplacementconfigs.multiarch.openshift.io`;
  expectStatus("point the conversion", await cluster.request("PATCH", definition, conversion, JSON_PATCH), [200]);
}

/** APIs of others that the service uses where they are. */
const FOREIGN = [
  ["monitoring.coreos.com", "v1", "ServiceMonitor"],
  ["monitoring.coreos.com", "v1", "PrometheusRule"],
  ["karpenter.sh", "v1", "NodePool"],
  ["machine.openshift.io", "v1beta1", "MachineSet"],
] as const;

async function defineForeignKinds(cluster: ClusterAccess): Promise<void> {
  for (const [group, version, kind] of FOREIGN) {
    const plural = `${kind.toLowerCase()}s`;
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    const answer = await cluster.request("POST", CRD, {
      ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
      metadata: { name: `${plural}.${group}` },
      spec: {
        ...{
          group,
          scope: kind === "NodePool" ? "Cluster" : "Namespaced",
          names: { kind, plural, singular: kind.toLowerCase() },
        },
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    });
    expectStatus(`define ${kind}`, answer, [201]);
  }
}

interface Bench {
  readonly cluster: ControlPlane;
  readonly start: (switches: readonly string[]) => Promise<RunningProcess>;
}

/** What the reference leaves behind, which a leader frees. */
async function leaveOperandsBehind(cluster: ClusterAccess): Promise<void> {
  const namespace = "openshift-multiarch-tuning-operator";
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  expectStatus("create", await cluster.request("POST", "/api/v1/namespaces", object), [201]);
  const prefix = "finalizers.multiarch.openshift.io";
  const operands = [
    ["pod-placement-controller", `${prefix}/pod-placement`],
    ["enoexec-event-handler-controller", `${prefix}/enoexec-events`],
  ] as const;
  for (const [name, finalizer] of operands) {
    const labels = { controller: name };
    const containers = [{ name: "manager", image: "registry.invalid/manager" }];
    const deployment = {
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name, finalizers: [finalizer] } },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    };
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    expectStatus("create", await cluster.request("POST", path, deployment), [201]);
  }
}

async function prepare(cluster: ControlPlane): Promise<Bench> {
  await defineForeignKinds(cluster);
  await leaveOperandsBehind(cluster);
  await cluster.addNodes([{ name: "amd64-1", arch: "amd64" }]);
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: await renderComposition("base", COMPONENTS) });
  const applied = await cluster.kubectl(["apply", "-f", "-"], { stdin });
  assert.equal(applied.code, 0, applied.stderr);
  const kubeconfig = await cluster.serviceAccountKubeconfig({ namespace: NAMESPACE, name: "archway" });
  const [webhookPort, adminPort] = [findFreePort(), findFreePort()];
  const baseUrl = `https://127.0.0.1:${webhookPort}`;
  await pointWebhooksAt(cluster, baseUrl);
  const flags = {
    kubeconfig,
    namespace: NAMESPACE,
    "webhook-url": baseUrl,
    listen: `127.0.0.1:${webhookPort}`,
    "admin-listen": `127.0.0.1:${adminPort}`,
    "tls-mode": "self",
    "max-gate-age": "3s",
  };
  const start = async (switches: readonly string[]): Promise<RunningProcess> => {
    const given = [...Object.entries(flags).map((pair) => `--${pair.join("=")}`), ...switches];
    const archway = RunningProcess.start({
      name: "archway",
      command: Deno.execPath(),
      args: ["run", "-A", "--no-check", MAIN, "serve", ...given],
      directory: cluster.directory,
    });
    await archway.waitReady(async () => {
      const response = await fetch(`http://127.0.0.1:${adminPort}/readyz`);
      await response.body?.cancel();
      return response.ok;
    });
    return archway;
  };
  return { cluster, start };
}

/** Everything the service does for a configuration and a pod, once. */
async function exercise({ cluster }: Bench): Promise<void> {
  const namespace = await cluster.createNamespace("rights");
  const config = {
    ...{ apiVersion: "multiarch.openshift.io/v1beta1", kind: "ClusterPodPlacementConfig" },
    ...{ metadata: { name: "cluster" }, spec: {} },
  };
  // Refused until the CA is in the validating webhooks.
  await waitUntil(
    "the configuration to be accepted",
    async () => (await cluster.request("POST", `${GROUP}/clusterpodplacementconfigs`, config)).status === 201,
  );
  const isThere = async (path: string): Promise<boolean> => (await cluster.request("GET", path)).status === 200;
  // Twice: the second event of a kind is counted up, not created.
  for (let round = 0; round < 2; round++) {
    await waitUntil("the webhook configuration", () => isThere(WEBHOOK));
    expectStatus("delete it", await cluster.request("DELETE", WEBHOOK), [200]);
  }
  await waitUntil("the webhook configuration", () => isThere(WEBHOOK));
  const monitoring = `/apis/monitoring.coreos.com/v1/namespaces/${NAMESPACE}`;
  await waitUntil("the ServiceMonitor", () => isThere(`${monitoring}/servicemonitors/archway`));
  const local = {
    ...{ apiVersion: "multiarch.openshift.io/v1beta1", kind: "PodPlacementConfig" },
    ...{ metadata: { name: "local" }, spec: { plugins: {} } },
  };
  const locals = `${GROUP}/namespaces/${namespace}/podplacementconfigs`;
  expectStatus("create", await cluster.request("POST", locals, local), [201]);
  await placePod(cluster, namespace);
  expectStatus("delete", await cluster.request("DELETE", `${locals}/local`), [200]);
  await waitUntil(
    "the configuration to be deletable",
    async () => (await cluster.request("DELETE", `${GROUP}/clusterpodplacementconfigs/cluster`)).status === 200,
  );
  await waitUntil(
    "the configuration to be gone",
    async () => !await isThere(`${GROUP}/clusterpodplacementconfigs/cluster`),
  );
}

/** A pod whose registry does not exist: gated, its pull secret read, released when its time is up. */
async function placePod(cluster: ClusterAccess, namespace: string): Promise<void> {
  const auths = { "registry.invalid": { auth: btoa("user:word") } };
  const secret = {
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "pull" }, type: "kubernetes.io/dockerconfigjson" },
    data: { ".dockerconfigjson": btoa(JSON.stringify({ auths })) },
  };
  const core = `/api/v1/namespaces/${namespace}`;
  expectStatus("create", await cluster.request("POST", `${core}/secrets`, secret), [201]);
  const pod = {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "pod" } },
    spec: {
      imagePullSecrets: [{ name: "pull" }],
      containers: [{ name: "main", image: "registry.invalid/team/app:1" }],
    },
  };
  // The API server learns of the webhook a moment after it was stored.
  await waitUntil("a pod to be gated", async () => {
    const created = await cluster.request("POST", `${core}/pods`, pod);
    expectStatus("create", created, [201]);
    if (read(created.body, "spec", "schedulingGates") !== undefined) return true;
    expectStatus("delete", await cluster.request("DELETE", `${core}/pods/pod?gracePeriodSeconds=0`), [200]);
    return false;
  });
  await waitUntil(
    "the pod to be released",
    async () => read((await cluster.request("GET", `${core}/pods/pod`)).body, "spec", "schedulingGates") === undefined,
  );
}

Deno.test("the service uses every right it is granted, and needs no other", async () => {
  await using cluster = await startControlPlane({ auditLog: true });
  const bench = await prepare(cluster);
  const rights = readRights(await renderComposition("base", COMPONENTS), "archway");
  const auditLog = cluster.auditLogFile ?? join(cluster.directory, "audit.log");
  const seen = async (): Promise<readonly Use[]> => readUses(await Deno.readTextFile(auditLog), ACCOUNT);
  {
    await using archway = await bench.start([]);
    await exercise(bench);
    await archway.stop();
  }
  // A second life finds a Secret that somebody broke: it is put right, not made anew.
  const broken = { data: { "tls.crt": btoa("no certificate") } };
  const secret = `/api/v1/namespaces/${NAMESPACE}/secrets/archway-tls`;
  expectStatus("break the Secret", await cluster.request("PATCH", secret, broken), [200]);
  {
    await using archway = await bench.start(SWITCHES);
    const idle = async (): Promise<readonly string[]> =>
      findIdle(rights, await seen()).map(renderRight).filter((right) => EXCUSED[right] === undefined);
    await waitUntil("every right to be used", async () => (await idle()).length === 0, { intervalMs: 500 })
      .catch(async () => assert.deepEqual(await idle(), []));
    await archway.stop();
  }
  const uses = await seen();
  const show = ({ verb, resource, name, namespace, status }: Use): string =>
    `${verb} ${resource} ${name ?? ""} ${namespace ?? ""} ${status}`;
  assert.deepEqual([...new Set(findMissing(rights, uses).map(show))], []);
});
