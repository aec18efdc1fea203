// What somebody else can do with a token of Archway's accounts: RBAC allows the patch, the admission policies of the manifests refuse
// what Archway never writes. Asked of a real API server with such tokens.
import assert from "node:assert/strict";
import { renderComposition } from "../../manifests/generate/kustomize.ts";
import { parseOperandConfig } from "../../lib/operator/decide/config_view.ts";
import { renderDaemonSet } from "../../lib/operator/cluster/exec_format_daemon_set.ts";
import { createDeploymentOfArchway, DAEMON_SET, DEPLOYMENT } from "./support/exec_format_bed.ts";
import { type ClusterAccess, expectStatus, read } from "./support/cluster_access.ts";
import { defineKind, workload } from "./support/objects.ts";
import { renderPod } from "./support/pods.ts";
import { bareControlPlane } from "./support/shared_control_plane.ts";
import { assertRefused, holder, patchOf, type Try } from "./support/stolen_token.ts";
import { waitUntil } from "./support/wait.ts";

const NAMESPACE = "archway-system";
/** Namespaces of OpenShift, which are not here. */
const FOREIGN = /^openshift-(?!managed-upgrade-operator$|machine-config-operator$)/;
const BUILDS = "openshift-machine-config-operator";
const VERSION = "/apis/config.openshift.io/v1/clusterversions";

async function applyManifests(cluster: ClusterAccess): Promise<void> {
  await cluster.create("/api/v1/namespaces", { metadata: { name: BUILDS } });
  const components = ["exec-format-errors", "upgrades", "upgrades-drain", "image-builds", "kueue", "migration"].map((
    name,
  ) => `components/${name}`);
  const items = await renderComposition("base", components);
  const kept = items.filter(({ kind, metadata }) =>
    !["Deployment", "AdmissionCheck"].includes(kind ?? "") && !/webhook/i.test(`${kind} ${metadata.name}`) &&
    !FOREIGN.test(metadata.namespace ?? "")
  );
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: kept });
  await cluster.run(["apply", "--server-side", "-f", "-"], { stdin });
}

async function tryPods(cluster: ClusterAccess, account: Try): Promise<void> {
  const namespace = await cluster.createNamespace("stolen");
  const pod = renderPod({
    ...{ name: "web", labels: { app: "web" }, annotations: { "example.com/note": "x" } },
    ...{ images: ["registry.invalid/web:v1"], initImages: ["registry.invalid/init:v1"] },
    gates: ["multiarch.openshift.io/scheduling-gate", "example.com/quota"],
  });
  await cluster.create(`/api/v1/namespaces/${namespace}/pods`, pod);
  const patch = patchOf(account, `/api/v1/namespaces/${namespace}/pods/web`);
  await assertRefused(patch, [
    ["/spec/containers/0/image", "registry.invalid/other:v1", /changes no container/],
    ["/spec/initContainers/0/image", "registry.invalid/other:v1", /changes no container/],
    ["/spec/activeDeadlineSeconds", 5, /gate, affinity and tolerations/],
    ["/spec/nodeSelector", { "kubernetes.io/hostname": "mine" }, /gate, affinity and tolerations/],
    ["/metadata/finalizers", ["example.com/held"], /labels and annotations/],
    ["/metadata/labels", {}, /its own labels alone/],
    ["/metadata/labels/app", "api", /its own labels alone/],
    ["/metadata/labels/more", "api", /its own labels alone/],
    ["/metadata/annotations", {}, /its own annotations alone/],
    ["/metadata/annotations/example.com~1note", "y", /its own annotations alone/],
    ["/spec/schedulingGates", [], /its own gate alone/],
  ]);
  const term = { matchExpressions: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64"] }] };
  const allowed: readonly (readonly [path: string, value: unknown])[] = [
    ["/metadata/labels/multiarch.openshift.io~1node-affinity", "set"],
    ["/metadata/labels", { app: "web", "multiarch.openshift.io/node-affinity": "not-set" }],
    ["/metadata/annotations/archway.dev~1decision", "amd64"],
    ["/metadata/annotations/multiarch.openshift.io~1image-inspect-error", "x"],
    ["/spec/tolerations/-", { key: "kubernetes.io/arch", operator: "Exists" }],
    ["/spec/affinity", {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
    }],
    ["/spec/schedulingGates", [{ name: "example.com/quota" }]],
  ];
  for (const [path, value] of allowed) assert.equal(await patch(path, value), "", path);
}

/** Owners: OpenShift's API server itself refuses those who may not delete the object, the policy any other change. */
async function tryOwners(cluster: ClusterAccess, account: Try): Promise<void> {
  const namespace = await cluster.createNamespace("owned");
  const core = `/api/v1/namespaces/${namespace}`;
  const uid = read(await cluster.create(`${core}/configmaps`, { metadata: { name: "owner" } }), "metadata", "uid");
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
  const spec = { containers: [{ name: "web", image: "registry.invalid/web:v1" }] };
  for (const [name, metadata] of [["owned", { ownerReferences }], ["free", {}]] as const) {
    await cluster.create(`${core}/pods`, { metadata: { name, ...metadata }, spec });
  }
  const changes = [["owned", []], ["free", ownerReferences]] as const;
  const refuse = async (message: RegExp): Promise<void> => {
    for (const [name, value] of changes) {
      const patch = patchOf(account, `${core}/pods/${name}`);
      const dryRun = (): Promise<string> => patch("/metadata/ownerReferences", value, "?dryRun=All");
      await waitUntil(`${message} for ${name}`, async () => message.test(await dryRun()));
      assert.match(await patch("/metadata/ownerReferences", value), message, name);
    }
  };
  await refuse(/cannot set an ownerRef/);
  const args = ["--clusterrole=admin", `--serviceaccount=${NAMESPACE}:archway`, `--namespace=${namespace}`];
  await cluster.run(["create", "rolebinding", "may-delete", ...args]);
  await refuse(/labels and annotations/);
}

async function trySecrets(account: Try, namespace: string): Promise<void> {
  const annotations = { "kubernetes.io/service-account.name": "default" };
  const create = (name: string, type: string, query = ""): Promise<string> => {
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name, annotations }, type };
    return account("POST", `/api/v1/namespaces/${namespace}/secrets${query}`, secret);
  };
  const refused = [["stolen", "kubernetes.io/service-account-token"], ["archway-tls", "Opaque"]] as const;
  for (const [name, type] of refused) {
    await waitUntil(`${name} to be refused`, async () => await create(name, type, "?dryRun=All") !== "");
    assert.match(await create(name, type), /archway-tls and archway-webhook-path alone/);
  }
  assert.equal(await create("archway-webhook-path", "Opaque"), "");
}

async function tryWorkloads(account: Try): Promise<void> {
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
}

/** What Archway holds by a finalizer, and what the MTO has left. */
async function tryFinalizers(cluster: ClusterAccess, account: Try): Promise<void> {
  await createDeploymentOfArchway(cluster);
  const left = workload("Deployment", "pod-placement-controller", { replicas: 0 });
  await cluster.create("/apis/apps/v1/namespaces/default/deployments", left);
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const image = "/spec/template/spec/containers/0/image";
  const rule = { apiGroups: [""], resources: ["secrets"], verbs: ["get"] };
  const writes: readonly (readonly [object: string, path: string, value: unknown])[] = [
    [`${rbac}/clusterroles/archway-uninstall`, "/rules/-", rule],
    [`${rbac}/clusterroles/archway-uninstall`, "/metadata/labels/rbac.authorization.k8s.io~1aggregate-to-edit", "true"],
    [
      `${rbac}/clusterrolebindings/archway-uninstall`,
      "/subjects/-",
      { kind: "ServiceAccount", namespace: "default", name: "default" },
    ],
    [`/api/v1/namespaces/${NAMESPACE}/serviceaccounts/archway`, "/imagePullSecrets", [{ name: "stolen" }]],
    [DEPLOYMENT, image, "registry.invalid/other:v1"],
    [DEPLOYMENT, "/spec/replicas", 2],
    ["/apis/apps/v1/namespaces/default/deployments/pod-placement-controller", image, "registry.invalid/other:v1"],
  ];
  for (const [object, path, value] of writes) {
    await assertRefused(patchOf(account, object), [[path, value, /changes finalizers alone/]]);
    assert.equal(await patchOf(account, object)("/metadata/finalizers", ["archway.dev/uninstall"]), "", object);
  }
}

async function tryDrainedPod(cluster: ClusterAccess, account: Try): Promise<void> {
  const namespace = await cluster.createNamespace("drained");
  const metadata = { name: "web", labels: { app: "web" }, finalizers: ["example.com/one", "example.com/two"] };
  const spec = { containers: [{ name: "web", image: "registry.invalid/web:v1" }] };
  await cluster.create(`/api/v1/namespaces/${namespace}/pods`, { metadata, spec });
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
  const maps = `/api/v1/namespaces/${BUILDS}/configmaps`;
  await cluster.create(maps, { metadata: { name: "images" } });
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

/** A Workload of Kueue: its templates, and the answer to the check, which is a subresource. */
async function tryQueuedWorkload(cluster: ClusterAccess, archway: Try): Promise<void> {
  const path = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads";
  const template = { spec: { containers: [{ name: "c", image: "a.example/x:1" }] } };
  const spec = { queueName: "q", active: true, podSets: [{ name: "main", count: 1, template }] };
  const [group, version, kind] = ["kueue.x-k8s.io", "v1beta2", "Workload"];
  await defineKind(cluster, { group, version, kind });
  await cluster.create(path, { apiVersion: `${group}/${version}`, kind, metadata: { name: "queued" }, spec });
  const admissionChecks = ["archway", "quota"].map((name) => ({ name, state: "Pending" }));
  const merge = { contentType: "application/merge-patch+json" };
  const asked = await cluster.request("PATCH", `${path}/queued/status`, { status: { admissionChecks } }, merge);
  expectStatus("ask the checks", asked, [200]);
  const patch = patchOf(archway, `${path}/queued`);
  await assertRefused(patch, [
    ["/spec/active", false, /templates of a Workload alone/],
    ["/spec/podSets/0/count", 5, /affinity in the templates/],
    ["/spec/podSets/0/template/spec/containers/0/image", "a.example/y:1", /affinity in the templates/],
  ]);
  assert.equal(await patch("/spec/podSets/0/template/spec/affinity", { nodeAffinity: {} }), "");
  const answer = patchOf(archway, `${path}/queued/status`);
  await assertRefused(answer, [
    ["/status/conditions", [{ type: "Admitted", status: "True" }], /its own admission check alone/],
    ["/status/admissionChecks/1/state", "Ready", /its own admission check alone/],
    ["/status/admissionChecks/0/podSetUpdates", [{ name: "main" }], /its own admission check alone/],
  ]);
  assert.equal(await answer("/status/admissionChecks/0/state", "Ready"), "");
}

Deno.test("a stolen token is refused containers, owners, other Secrets and workloads, and a forced upgrade; Archway is not", async (t) => {
  await using cluster = await bareControlPlane();
  using stack = new DisposableStack();
  const [group, kind] = ["config.openshift.io", "ClusterVersion"];
  await defineKind(cluster, { group, kind, scope: "Cluster" });
  const spec = { channel: "stable-4.19", clusterID: "one" };
  await cluster.create(VERSION, { apiVersion: `${group}/v1`, kind, metadata: { name: "version" }, spec });
  await applyManifests(cluster);
  const archway = await holder(cluster, { namespace: NAMESPACE, name: "archway" }, stack);
  await t.step("pods: its own gate, labels and annotations, affinity, tolerations", () => tryPods(cluster, archway));
  await t.step("owners of pods: none, also where it may delete the pod", () => tryOwners(cluster, archway));
  await t.step("workloads: the daemon as Archway makes it", () => tryWorkloads(archway));
  await t.step("roles, bindings, accounts, Deployments: finalizers", () => tryFinalizers(cluster, archway));
  await t.step("Secrets: its own two, so no token of another account", () => trySecrets(archway, NAMESPACE));
  await t.step("Jobs in queues: affinity of the suspended", () => tryQueuedJob(cluster, archway));
  await t.step("Workloads: affinity, and its own check", () => tryQueuedWorkload(cluster, archway));
  const builds = await holder(cluster, { namespace: NAMESPACE, name: "archway-image-builds" }, stack);
  await t.step("Jobs, ConfigMaps and Secrets: those of builds", () => tryBuilds(cluster, builds));
  const namespace = "openshift-managed-upgrade-operator";
  const upgrades = await holder(cluster, { namespace, name: "archway-upgrades" }, stack);
  await t.step("Secrets of upgrades: its own", () => trySecrets(upgrades, namespace));
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
