// Least privilege, proved by the audit log: each set of rights is installed, and the service runs with it through everything it
// does. A request that no role allows and a right that no request needed both fail the test.
import assert from "node:assert/strict";
import { renderComposition } from "../../manifests/generate/kustomize.ts";
import { type ClusterAccess, expectStatus, read } from "./support/cluster_access.ts";
import { type Composition, install, type Installation } from "./support/installation.ts";
import { findIdle, findMissing, readRights, readUses, renderRight, type Right, type Use } from "./support/rights.ts";
import { bareControlPlane } from "./support/shared_control_plane.ts";
import { waitUntil } from "./support/wait.ts";

const NAMESPACE = "archway-system";
const ACCOUNT = `system:serviceaccount:${NAMESPACE}:archway`;
const GROUP = "/apis/multiarch.openshift.io/v1beta1";
const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const WEBHOOK = `${ADMISSION}/mutatingwebhookconfigurations/pod-placement-mutating-webhook-configuration`;
const CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Of the component node-registry-config, which `overlays/openshift` includes. */
const CONSTRAINTS = ["hostmount-anyuid-v2", "hostmount-anyuid"].map((name) =>
  `use securitycontextconstraints.security.openshift.io "${name}" in ${NAMESPACE} (role archway-hostmount)`
);

/** Rights that no request of this run can need, and why they are granted. */
const EXCUSED: Readonly<Record<string, string>> = {
  "update clusterpodplacementconfigs.multiarch.openshift.io/finalizers (role archway-configs)":
    "asked by OwnerReferencesPermissionEnforcement, which is on here, of the authorizer: without it the run would fail",
  [`get deployments.apps "archway" in ${NAMESPACE} (role archway-rollout)`]:
    "only a service that is reached through its Service has a Deployment: see ha_service_test.ts",
  ...Object.fromEntries(
    ["archway-arch-taints", "archway-uninstall"].map((role) => [
      `get nodes (role ${role})`,
      "a node whose taints another client changes while ours is taken off is read again: see tests/lib/taints/cluster/lifter_test.ts",
    ]),
  ),
  ...Object.fromEntries(
    CONSTRAINTS.map((right) => [right, "asked by OpenShift's admission of pods, on behalf of the ServiceAccount"]),
  ),
};

interface Variant extends Composition {
  readonly name: string;
}

const OPTIONAL = ["arch-taints", "prewarm", "live-architectures", "daemonsets-warn", "migration"].map((name) =>
  `components/${name}`
);

/** Every set of rights there is; those of the other overlays are the base's, which a test of its own holds. */
const VARIANTS: readonly Variant[] = [
  { name: "base with every power", path: "base", components: OPTIONAL },
  { name: "openshift", path: "overlays/openshift", components: [] },
  { name: "cert-manager", path: "overlays/cert-manager", components: [] },
  {
    name: "base with pull secrets of its own namespace",
    path: "base",
    components: ["components/least-privilege"],
  },
  {
    name: "base without pull secrets",
    path: "base",
    components: ["components/no-pull-secrets"],
  },
];

/** Rendered differently, but with the rights of the base. */
const LIKE_BASE = ["overlays/vanilla", "overlays/gke", "overlays/monitoring"];

/** APIs of others that the service uses, or that overlays name. */
const FOREIGN = [
  ["monitoring.coreos.com", "v1", "ServiceMonitor"],
  ["monitoring.coreos.com", "v1", "PrometheusRule"],
  ["karpenter.sh", "v1", "NodePool"],
  ["machine.openshift.io", "v1beta1", "MachineSet"],
  ["cert-manager.io", "v1", "Issuer"],
  ["cert-manager.io", "v1", "Certificate"],
] as const;

async function defineForeignKinds(cluster: ClusterAccess): Promise<void> {
  for (const [group, version, kind] of FOREIGN) {
    const plural = `${kind.toLowerCase()}s`;
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await cluster.create(CRD, {
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
  }
}

interface Bench {
  readonly cluster: ClusterAccess;
  readonly installation: Installation;
}

async function leaveOperandsBehind(cluster: ClusterAccess): Promise<void> {
  const namespace = "openshift-multiarch-tuning-operator";
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  await cluster.create("/api/v1/namespaces", object);
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
    await cluster.create(path, deployment);
  }
}

async function exercise(bench: Bench): Promise<void> {
  const { cluster, installation } = bench;
  const namespace = await cluster.createNamespace("rights");
  // Where the manifests bring them as well: nothing is there that the service can only find.
  const monitoring = `/apis/monitoring.coreos.com/v1/namespaces/${NAMESPACE}`;
  const kept = ["servicemonitors", "prometheusrules"].map((kind) => `${monitoring}/${kind}/archway`);
  for (const path of kept) expectStatus("delete", await cluster.request("DELETE", path), [200, 404]);
  const config = {
    ...{ apiVersion: "multiarch.openshift.io/v1beta1", kind: "ClusterPodPlacementConfig" },
    ...{ metadata: { name: "cluster" }, spec: {} },
  };
  // Refused until the CA is in the validating webhooks.
  await waitUntil("the configuration to be accepted", async () => {
    await installation.injectCa();
    return (await cluster.request("POST", `${GROUP}/clusterpodplacementconfigs`, config)).status === 201;
  });
  // Twice: the second event of a kind is counted up, not created.
  for (let round = 0; round < 2; round++) {
    await waitUntil("the webhook configuration", () => cluster.exists(WEBHOOK));
    await cluster.delete(WEBHOOK);
  }
  await waitUntil("the webhook configuration", () => cluster.exists(WEBHOOK));
  for (const path of kept) await waitUntil("the monitoring objects", () => cluster.exists(path));
  const local = {
    ...{ apiVersion: "multiarch.openshift.io/v1beta1", kind: "PodPlacementConfig" },
    ...{ metadata: { name: "local" }, spec: { plugins: {} } },
  };
  const locals = `${GROUP}/namespaces/${namespace}/podplacementconfigs`;
  await cluster.create(locals, local);
  await placePod(bench, namespace);
  await cluster.delete(`${locals}/local`);
  await waitUntil(
    "the configuration to be deletable",
    async () => (await cluster.request("DELETE", `${GROUP}/clusterpodplacementconfigs/cluster`)).status === 200,
  );
  await waitUntil(
    "the configuration to be gone",
    async () => !await cluster.exists(`${GROUP}/clusterpodplacementconfigs/cluster`),
  );
}

/** Pods whose registry does not exist: gated, the pull secret of one and the account of the other read, released in time. */
async function placePod({ cluster, installation }: Bench, namespace: string): Promise<void> {
  const auths = { "registry.invalid": { auth: btoa("user:word") } };
  const secret = {
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "pull" }, type: "kubernetes.io/dockerconfigjson" },
    data: { ".dockerconfigjson": btoa(JSON.stringify({ auths })) },
  };
  const core = `/api/v1/namespaces/${namespace}`;
  await cluster.create(`${core}/secrets`, secret);
  const containers = [{ name: "main", image: "registry.invalid/team/app:1" }];
  const kind = { apiVersion: "v1", kind: "Pod" };
  const pod = { ...kind, metadata: { name: "pod" }, spec: { imagePullSecrets: [{ name: "pull" }], containers } };
  const plain = { ...kind, metadata: { name: "plain" }, spec: { containers } };
  // The API server learns of the webhook a moment after it was stored.
  await waitUntil("a pod to be gated", async () => {
    await installation.injectCa();
    const created = await cluster.create(`${core}/pods`, pod);
    if (read(created, "spec", "schedulingGates") !== undefined) return true;
    await cluster.delete(`${core}/pods/pod?gracePeriodSeconds=0`);
    return false;
  });
  await cluster.create(`${core}/pods`, plain);
  for (const name of ["pod", "plain"]) {
    const gatesOf = async (): Promise<unknown> =>
      read(await cluster.get(`${core}/pods/${name}`), "spec", "schedulingGates");
    await waitUntil(`the pod ${name} to be released`, async () => await gatesOf() === undefined);
  }
  // As a person would, in a replica's place.
  const explained = await installation.run(["explain", "pod/pod", "-n", namespace]);
  assert.equal(explained.code, 0, explained.stdout);
}

/** A second start finds a Secret that a user broke: it is repaired, not created again. */
async function breakSecret(cluster: ClusterAccess, name: string, member: string): Promise<void> {
  const secret = `/api/v1/namespaces/${NAMESPACE}/secrets/${name}`;
  const broken = { data: { [member]: btoa("broken") } };
  await cluster.patch(secret, broken);
}

async function live(bench: Bench, work: () => Promise<void>): Promise<void> {
  await using archway = await bench.installation.start();
  await work();
  await archway.stop();
}

async function holdAgainstAuditLog(cluster: ClusterAccess, variant: Variant): Promise<void> {
  const log = cluster.auditLogFile ?? assert.fail("no audit log");
  const before = (await Deno.readTextFile(log)).length;
  const seen = async (): Promise<readonly Use[]> => readUses((await Deno.readTextFile(log)).slice(before), ACCOUNT);
  await using installation = await install(cluster, { ...variant, args: ["--max-gate-age=3s"] });
  const bench = { cluster, installation };
  const rights = readRights(installation.objects, "archway");
  const idle = async (): Promise<readonly string[]> =>
    findIdle(rights, await seen()).map(renderRight).filter((right) => EXCUSED[right] === undefined);
  const allUsed = async (): Promise<void> => {
    await waitUntil("every right to be used", async () => (await idle()).length === 0, { intervalMs: 500 })
      .catch(async () => assert.deepEqual(await idle(), []));
  };
  await live(bench, () => exercise(bench));
  if (installation.ownsCertificates) await breakSecret(cluster, "archway-tls", "tls.crt");
  await breakSecret(cluster, "archway-webhook-path", "current");
  await live(bench, allUsed);
  const show = ({ verb, resource, name, namespace, status }: Use): string =>
    `${verb} ${resource} ${name ?? ""} ${namespace ?? ""} ${status}`;
  assert.deepEqual([...new Set(findMissing(rights, await seen()).map(show))], []);
}

Deno.test("the service uses every right that a variant grants, and needs no other", async (t) => {
  await using cluster = await bareControlPlane();
  await defineForeignKinds(cluster);
  await cluster.addNodes([{ name: "amd64-1", arch: "amd64" }]);
  await leaveOperandsBehind(cluster);
  for (const variant of VARIANTS) await t.step(variant.name, () => holdAgainstAuditLog(cluster, variant));
});

Deno.test("every other overlay grants what the base grants", async () => {
  const rightsOf = async (path: string, components: readonly string[]): Promise<readonly Right[]> =>
    readRights(await renderComposition(path, components), "archway");
  const base = await rightsOf("base", []);
  for (const path of LIKE_BASE) assert.deepEqual(await rightsOf(path, []), base, path);
});

Deno.test("configuration of the node adds two rights, which OpenShift asks for and no request", async () => {
  const rights = readRights(await renderComposition("base", ["components/node-registry-config"]), "archway");
  const added = rights.filter(({ role }) => role === "archway-hostmount").map(renderRight);
  assert.deepEqual(added, CONSTRAINTS);
});
