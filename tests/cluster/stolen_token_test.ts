// What somebody else can do with a token of Archway's accounts: RBAC allows the patch, the admission policies of the manifests refuse
// what Archway never writes. Asked of a real API server with such tokens.
import assert from "node:assert/strict";
import { renderComposition } from "../../manifests/generate/kustomize.ts";
import { parseOperandConfig } from "../../lib/operator/decide/config_view.ts";
import { renderDaemonSet } from "../../lib/operator/cluster/exec_format_daemon_set.ts";
import { createDeploymentOfArchway, DAEMON_SET, DEPLOYMENT } from "./support/exec_format_bed.ts";
import { AdminConnection, type ClusterAccess, expectStatus, read } from "./support/cluster_access.ts";
import { bareControlPlane } from "./support/shared_control_plane.ts";
import { waitUntil } from "./support/wait.ts";

const NAMESPACE = "archway-system";
/** Namespaces of OpenShift, which are not here. */
const FOREIGN = /^openshift-(?!managed-upgrade-operator$|machine-config-operator$)/;
const BUILDS = "openshift-machine-config-operator";
const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const VERSION = "/apis/config.openshift.io/v1/clusterversions";

async function createClusterVersion(cluster: ClusterAccess): Promise<void> {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const definition = {
    ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
    metadata: {
      name: "clusterversions.config.openshift.io",
      annotations: { "api-approved.kubernetes.io": "unapproved, for a test" },
    },
    spec: {
      ...{ group: "config.openshift.io", scope: "Cluster" },
      names: { kind: "ClusterVersion", plural: "clusterversions", singular: "clusterversion" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
  await cluster.create(CRD, definition);
  const version = {
    ...{ apiVersion: "config.openshift.io/v1", kind: "ClusterVersion", metadata: { name: "version" } },
    spec: { channel: "stable-4.19", clusterID: "one" },
  };
  await waitUntil("the kind to be served", async () => {
    const { status } = await cluster.request("POST", VERSION, version);
    return status === 201;
  });
}

async function applyManifests(cluster: ClusterAccess): Promise<void> {
  const builds = { apiVersion: "v1", kind: "Namespace", metadata: { name: BUILDS } };
  await cluster.create("/api/v1/namespaces", builds);
  const components = ["exec-format-errors", "upgrades", "upgrades-drain", "image-builds", "kueue"].map((name) =>
    `components/${name}`
  );
  const items = await renderComposition("base", components);
  const kept = items.filter(({ kind, metadata }) =>
    !["Deployment", "AdmissionCheck"].includes(kind ?? "") && !/webhook/i.test(`${kind} ${metadata.name}`) &&
    !FOREIGN.test(metadata.namespace ?? "")
  );
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: kept });
  await cluster.run(["apply", "--server-side", "-f", "-"], { stdin });
}

/** Sends a request with a token, and gives the message of the policy that refuses it; empty where it is done. */
type Try = (method: string, path: string, body: unknown, contentType?: string) => Promise<string>;

async function holder(
  cluster: ClusterAccess,
  account: { readonly namespace: string; readonly name: string },
  stack: DisposableStack,
): Promise<Try> {
  const kubeconfig: unknown = JSON.parse(await Deno.readTextFile(await cluster.serviceAccountKubeconfig(account)));
  const adminToken = String(read(kubeconfig, "users", 0, "user", "token"));
  const { access } = stack.use(new AdminConnection({ ...cluster, adminToken }));
  return async (method, path, body, contentType = "application/json") => {
    const answer = await access.request(method, path, body, { contentType });
    const words = String(read(answer.body, "message"));
    const [, message] = /^.*ValidatingAdmissionPolicy '[^']+' with binding '[^']+' denied request: (.*)/.exec(words) ??
      [];
    if (message === undefined) expectStatus(`${method} ${path}`, answer, [200, 201]);
    return message ?? "";
  };
}

type Patch = (path: string, value: unknown, query?: string) => Promise<string>;

function patchOf(account: Try, object: string): Patch {
  return (path, value, query = "") =>
    account("PATCH", `${object}${query}`, [{ op: "add", path, value }], "application/json-patch+json");
}

type Refused = readonly (readonly [path: string, value: unknown, message: RegExp])[];

/** The API server compiles policies some time after they were applied. */
async function assertRefused(patch: Patch, rows: Refused): Promise<void> {
  for (const [path, value, message] of rows) {
    await waitUntil(`${path} to be refused`, async () => await patch(path, value, "?dryRun=All") !== "");
    assert.match(await patch(path, value), message, path);
  }
}

async function tryPods(cluster: ClusterAccess, account: Try): Promise<void> {
  const namespace = await cluster.createNamespace("stolen");
  const pod = {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace } },
    spec: {
      schedulingGates: [{ name: "multiarch.openshift.io/scheduling-gate" }],
      initContainers: [{ name: "init", image: "registry.invalid/init:v1" }],
      containers: [{ name: "web", image: "registry.invalid/web:v1" }],
    },
  };
  await cluster.create(`/api/v1/namespaces/${namespace}/pods`, pod);
  const patch = patchOf(account, `/api/v1/namespaces/${namespace}/pods/web`);
  await assertRefused(patch, [
    ["/spec/containers/0/image", "registry.invalid/other:v1", /changes no container/],
    ["/spec/initContainers/0/image", "registry.invalid/other:v1", /changes no container/],
    ["/spec/activeDeadlineSeconds", 5, /gate, affinity and tolerations/],
    ["/spec/nodeSelector", { "kubernetes.io/hostname": "mine" }, /gate, affinity and tolerations/],
    ["/metadata/finalizers", ["example.com/held"], /labels and annotations/],
  ]);
  const term = { matchExpressions: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }] };
  const allowed: readonly (readonly [path: string, value: unknown])[] = [
    ["/metadata/labels", { "multiarch.openshift.io/node-affinity": "set" }],
    ["/metadata/annotations", { "example.com/note": "x" }],
    ["/spec/tolerations/-", { key: "kubernetes.io/arch", operator: "Exists" }],
    ["/spec/affinity", {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
    }],
    ["/spec/schedulingGates", []],
  ];
  for (const [path, value] of allowed) assert.equal(await patch(path, value), "", path);
}

async function trySecrets(account: Try): Promise<void> {
  const annotations = { "kubernetes.io/service-account.name": "archway" };
  const create = (name: string, type: string, query = ""): Promise<string> => {
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name, annotations }, type };
    return account("POST", `/api/v1/namespaces/${NAMESPACE}/secrets${query}`, secret);
  };
  const refused = [["stolen", "kubernetes.io/service-account-token"], ["archway-tls", "Opaque"]] as const;
  for (const [name, type] of refused) {
    await waitUntil(`${name} to be refused`, async () => await create(name, type, "?dryRun=All") !== "");
    assert.match(await create(name, type), /archway-tls and archway-webhook-path alone/);
  }
  assert.equal(await create("archway-webhook-path", "Opaque"), "");
}

async function tryWorkloads(cluster: ClusterAccess, account: Try): Promise<void> {
  const config = parseOperandConfig({
    ...{ apiVersion: "multiarch.openshift.io/v1beta1", kind: "ClusterPodPlacementConfig" },
    metadata: { name: "cluster", uid: "6f2fd1d2-8a3c-4f51-9f3c-0d4c2a0f8f10" },
  });
  const rendered = renderDaemonSet(config, { namespace: NAMESPACE, image: "registry.invalid/daemon:v1" });
  // Its owner is not here: the garbage collector would take it away.
  const { ownerReferences: _owner, ...metadata } = rendered.metadata;
  const daemon = { ...rendered, metadata };
  const applied = await account(
    "PATCH",
    `${DAEMON_SET}?fieldManager=archway&force=true`,
    daemon,
    "application/apply-patch+yaml",
  );
  assert.equal(applied, "", "what Archway makes");
  const template = "/spec/template/spec";
  await assertRefused(patchOf(account, DAEMON_SET), [
    [`${template}/hostPID`, true, /without namespaces of the node/],
    [`${template}/serviceAccountName`, "archway", /is the exec format daemon/],
    [`${template}/containers/0/securityContext/allowPrivilegeEscalation`, true, /rights of tracing alone/],
    [`${template}/containers/0/securityContext/capabilities/add/-`, "SYS_ADMIN", /rights of tracing alone/],
    [`${template}/containers/0/securityContext/capabilities/drop`, ["NET_RAW"], /rights of tracing alone/],
    [`${template}/hostNetwork`, true, /without namespaces of the node/],
    [`${template}/volumes/-`, { name: "root", hostPath: { path: "/" } }, /folder of traces alone/],
    [`${template}/initContainers`, [{ name: "x", image: "x" }], /is the exec format daemon/],
  ]);
  await createDeploymentOfArchway(cluster);
  const own = patchOf(account, DEPLOYMENT);
  await assertRefused(own, [
    [`${template}/hostNetwork`, true, /no Deployment but its own finalizer/],
    ["/spec/replicas", 2, /no Deployment but its own finalizer/],
  ]);
  assert.equal(await own("/metadata/finalizers", ["multiarch.openshift.io/held"]), "");
}

async function tryDrainedPod(cluster: ClusterAccess, account: Try): Promise<void> {
  const namespace = await cluster.createNamespace("drained");
  const pod = {
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: { name: "web", namespace, labels: { app: "web" }, finalizers: ["example.com/one", "example.com/two"] },
    spec: { containers: [{ name: "web", image: "registry.invalid/web:v1" }] },
  };
  await cluster.create(`/api/v1/namespaces/${namespace}/pods`, pod);
  const patch = patchOf(account, `/api/v1/namespaces/${namespace}/pods/web`);
  await assertRefused(patch, [
    ["/spec/containers/0/image", "registry.invalid/other:v1", /change nothing of a pod/],
    ["/metadata/labels/app", "other", /finalizers off pods alone/],
    ["/metadata/finalizers/-", "example.com/three", /finalizers off pods alone/],
  ]);
  assert.equal(await patch("/metadata/finalizers", ["example.com/two"]), "");
  assert.equal(await patch("/metadata/finalizers", []), "");
}

async function tryBuilds(cluster: ClusterAccess, account: Try): Promise<void> {
  const labels = { "machineconfiguration.openshift.io/machine-os-build": "worker-1" };
  const container = { name: "build", image: "registry.invalid/build:v1" };
  const jobs = `/apis/batch/v1/namespaces/${BUILDS}/jobs`;
  const createJob = (name: string, pod: Readonly<Record<string, unknown>>, query = ""): Promise<string> => {
    const spec = { restartPolicy: "Never", serviceAccountName: "machine-os-builder", containers: [container], ...pod };
    const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name, labels }, spec: { template: { spec } } };
    return account("POST", `${jobs}${query}`, job);
  };
  const privileged = { ...container, securityContext: { capabilities: { add: ["SYS_ADMIN"] } } };
  const refused: readonly (readonly [pod: Readonly<Record<string, unknown>>, message: RegExp])[] = [
    [{ serviceAccountName: "machine-config-operator" }, /as machine-os-builder alone/],
    [{ hostPID: true }, /without namespaces or folders/],
    [{ volumes: [{ name: "root", hostPath: { path: "/" } }] }, /without namespaces or folders/],
    [{ containers: [privileged] }, /without privileges/],
    [{ initContainers: [{ ...privileged, name: "init" }] }, /without privileges/],
  ];
  for (const [pod, message] of refused) {
    await waitUntil("the Job to be refused", async () => await createJob("stolen", pod, "?dryRun=All") !== "");
    assert.match(await createJob("stolen", pod), message);
  }
  assert.equal(await createJob("build", { volumes: [{ name: "done", emptyDir: {} }] }), "");
  const foreign = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "images", namespace: BUILDS } };
  const maps = `/api/v1/namespaces/${BUILDS}/configmaps`;
  await cluster.create(maps, foreign);
  const ofOthers = [["/data", { a: "b" }, /of builds alone/], ["/metadata/labels", labels, /of builds alone/]] as const;
  await assertRefused(patchOf(account, `${maps}/images`), ofOthers);
  assert.match(await account("DELETE", `${maps}/images`, {}), /of builds alone/);
  const createSecret = (type: string): Promise<string> => {
    const annotations = { "kubernetes.io/service-account.name": "machine-os-builder" };
    const data = { ".dockerconfigjson": btoa("{}") };
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "copy", labels, annotations }, type, data };
    return account("POST", `/api/v1/namespaces/${BUILDS}/secrets`, secret);
  };
  assert.match(await createSecret("kubernetes.io/service-account-token"), /for registries alone/);
  assert.equal(await createSecret("kubernetes.io/dockerconfigjson"), "");
}

/** A Job that Kueue holds: the API server lets the template of a suspended one be changed. */
async function tryQueuedJob(cluster: ClusterAccess, archway: Try): Promise<void> {
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "a.example/x:1" }] } };
  const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "queued" }, spec: { suspend: true, template } };
  const path = "/apis/batch/v1/namespaces/default/jobs";
  await cluster.create(path, job);
  const patch = patchOf(archway, `${path}/queued`);
  await assertRefused(patch, [
    ["/spec/suspend", false, /starts none/],
    ["/spec/template/spec/nodeSelector", { a: "b" }, /affinity in the template/],
    ["/spec/template/spec/tolerations", [{ operator: "Exists" }], /affinity in the template/],
    ["/spec/parallelism", 5, /nothing of a Job but its template/],
  ]);
  const terms = [{ matchExpressions: [{ key: "kubernetes.io/arch", operator: "In", values: ["arm64"] }] }];
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
  assert.equal(await patch("/spec/template/spec/affinity", { nodeAffinity: required }), "");
}

Deno.test("a stolen token is refused containers, owners, other Secrets and workloads, and a forced upgrade; Archway is not", async (t) => {
  await using cluster = await bareControlPlane();
  using stack = new DisposableStack();
  await createClusterVersion(cluster);
  await applyManifests(cluster);
  const archway = await holder(cluster, { namespace: NAMESPACE, name: "archway" }, stack);
  await t.step("pods: gate, affinity, tolerations, labels and annotations", () => tryPods(cluster, archway));
  await t.step(
    "workloads: the daemon as Archway makes it, the finalizer of its own Deployment",
    () => tryWorkloads(cluster, archway),
  );
  await t.step("Secrets: its own two, so no token of another account", () => trySecrets(archway));
  await t.step("Jobs in queues: affinity of the suspended", () => tryQueuedJob(cluster, archway));
  const builds = await holder(cluster, { namespace: NAMESPACE, name: "archway-image-builds" }, stack);
  await t.step("Jobs, ConfigMaps and Secrets: those of builds", () => tryBuilds(cluster, builds));
  const namespace = "openshift-managed-upgrade-operator";
  const upgrades = await holder(cluster, { namespace, name: "archway-upgrades" }, stack);
  await t.step("pods that hold a drain: their finalizers", () => tryDrainedPod(cluster, upgrades));
  await t.step("the ClusterVersion: what the upgrade is to, never forced", async () => {
    const patch = patchOf(upgrades, `${VERSION}/version`);
    await assertRefused(patch, [
      ["/spec/desiredUpdate", { version: "4.19.1", force: true }, /never forces/],
      ["/spec/overrides", [], /channel and desiredUpdate/],
      ["/spec/signatureStores", [{ url: "https://x.invalid" }], /channel and desiredUpdate/],
      ["/spec/upstream", "https://x.invalid", /channel and desiredUpdate/],
    ]);
    assert.equal(await patch("/spec/desiredUpdate", { version: "4.19.1" }), "");
    assert.equal(await patch("/spec/channel", "stable-4.20"), "");
  });
});
