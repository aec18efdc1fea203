// Least privilege, proved by the audit log: each set of rights is installed, and the service runs with it through everything it
// does. A request that no role allows and a right that no request needed both fail the test.
import assert from "node:assert/strict";
import { renderComposition } from "../../manifests/generate/kustomize.ts";
import { defineKinds } from "../node/support/foreign_apis.ts";
import { type ClusterAccess, expectStatus, read } from "../cluster/support/cluster_access.ts";
import { type Composition, install, type Installation } from "../cluster/support/installation.ts";
import {
  assertUsed,
  findIdle,
  readRights,
  readUses,
  renderRight,
  type Right,
  type Use,
} from "../cluster/support/rights.ts";
import {
  clusterConfig,
  CONFIG,
  CONFIGS,
  defineKind,
  GROUP,
  localConfig,
  POD_WEBHOOK,
  workload,
} from "../cluster/support/objects.ts";
import { createPullSecret, renderPod } from "../cluster/support/pods.ts";
import { bareControlPlane } from "../cluster/support/shared_control_plane.ts";
import { waitUntil } from "../cluster/support/wait.ts";

const NAMESPACE = "archway-system";
const ACCOUNT = `system:serviceaccount:${NAMESPACE}:archway`;

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
  { name: "base with pull secrets of its own namespace", path: "base", components: ["components/least-privilege"] },
  { name: "base without pull secrets", path: "base", components: ["components/no-pull-secrets"] },
];

/** Rendered differently, but with the rights of the base. */
const LIKE_BASE = ["overlays/vanilla", "overlays/gke", "overlays/monitoring"];

interface Bench {
  readonly cluster: ClusterAccess;
  readonly installation: Installation;
}

async function leaveOperandsBehind(cluster: ClusterAccess): Promise<void> {
  const namespace = "openshift-multiarch-tuning-operator";
  await cluster.create("/api/v1/namespaces", { metadata: { name: namespace } });
  const operands = [
    ["pod-placement-controller", "finalizers.multiarch.openshift.io/pod-placement"],
    ["enoexec-event-handler-controller", "finalizers.multiarch.openshift.io/enoexec-events"],
  ] as const;
  for (const [name, finalizer] of operands) {
    const deployment = workload("Deployment", name, { replicas: 0, metadata: { finalizers: [finalizer] } });
    await cluster.create(`/apis/apps/v1/namespaces/${namespace}/deployments`, deployment);
  }
}

async function exercise(bench: Bench): Promise<void> {
  const { cluster, installation } = bench;
  const namespace = await cluster.createNamespace("rights");
  // Where the manifests bring them as well: nothing is there that the service can only find.
  const monitoring = `/apis/monitoring.coreos.com/v1/namespaces/${NAMESPACE}`;
  const kept = ["servicemonitors", "prometheusrules"].map((kind) => `${monitoring}/${kind}/archway`);
  for (const path of kept) expectStatus("delete", await cluster.request("DELETE", path), [200, 404]);
  // Refused until the CA is in the validating webhooks.
  await waitUntil("the configuration to be accepted", async () => {
    await installation.injectCa();
    return (await cluster.request("POST", CONFIGS, clusterConfig())).status === 201;
  });
  // Twice: the second event of a kind is counted up, not created.
  for (let round = 0; round < 2; round++) {
    await waitUntil("the webhook configuration", () => cluster.exists(POD_WEBHOOK));
    await cluster.delete(POD_WEBHOOK);
  }
  await waitUntil("the webhook configuration", () => cluster.exists(POD_WEBHOOK));
  for (const path of kept) await waitUntil("the monitoring objects", () => cluster.exists(path));
  const locals = `${GROUP}/namespaces/${namespace}/podplacementconfigs`;
  await cluster.create(locals, localConfig());
  await placePod(bench, namespace);
  await cluster.delete(`${locals}/local`);
  await waitUntil("it to be deletable", async () => (await cluster.request("DELETE", CONFIG)).status === 200);
  await waitUntil("it to be gone", async () => !await cluster.exists(CONFIG));
}

/** Pods whose registry does not exist: gated, the pull secret of one and the account of the other read, released in time. */
async function placePod({ cluster, installation }: Bench, namespace: string): Promise<void> {
  const core = `/api/v1/namespaces/${namespace}`;
  await createPullSecret(cluster, namespace, { name: "pull", host: "registry.invalid", users: { user: "word" } });
  const images = ["registry.invalid/team/app:1"];
  const pod = renderPod({ name: "pod", images, pullSecrets: ["pull"] });
  // The API server learns of the webhook a moment after it was stored.
  await waitUntil("a pod to be gated", async () => {
    await installation.injectCa();
    const created = await cluster.create(`${core}/pods`, pod);
    if (read(created, "spec", "schedulingGates") !== undefined) return true;
    await cluster.delete(`${core}/pods/pod?gracePeriodSeconds=0`);
    return false;
  });
  await cluster.create(`${core}/pods`, renderPod({ name: "plain", images }));
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
  await cluster.patch(`/api/v1/namespaces/${NAMESPACE}/secrets/${name}`, { data: { [member]: btoa("broken") } });
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
  assertUsed(rights, await seen(), Object.keys(EXCUSED));
}

Deno.test("the service uses every right that a variant grants, and needs no other", async (t) => {
  await using cluster = await bareControlPlane();
  await defineKinds(cluster, ["ServiceMonitor", "PrometheusRule", "Issuer", "Certificate"]);
  await defineKind(cluster, { group: "karpenter.sh", kind: "NodePool", scope: "Cluster" });
  await defineKind(cluster, { group: "machine.openshift.io", version: "v1beta1", kind: "MachineSet" });
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
