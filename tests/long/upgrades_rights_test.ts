// Least privilege of upgrades, proved by the audit log: an upgrade that the cluster manager orders and a migration run through;
// a request that no role allows and a right that no request needed both fail. The account that places pods can change nothing.
import assert from "node:assert/strict";
import { renderTime } from "../../lib/vocabulary/time.ts";
import type { ManifestObject } from "../../manifests/generate/kustomize.ts";
import { addPolicy } from "../lib/upgrades/outside/ocm_double.ts";
import { type ClusterAccess, expectStatus, isTrue, read } from "../cluster/support/cluster_access.ts";
import { CLUSTER_VERSION, imageOf, TO } from "../cluster/support/simulated_openshift.ts";
import { phaseOf, PLAN } from "../cluster/support/upgrade_plane.ts";
import { assertUsed, isAllowed, readRights, renderRight, renderUse, type Right } from "../cluster/support/rights.ts";
import { ignore, onService, type UpgradeService } from "../cluster/support/upgrade_service.ts";
import { defineKind } from "../cluster/support/objects.ts";

const NAMESPACE = "openshift-managed-upgrade-operator";
const PLACEMENT = "system:serviceaccount:archway-system:archway";
const POOLS = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools";
const INTEGRITY = "/apis/fileintegrity.openshift.io/v1alpha1/namespaces/openshift-file-integrity/fileintegrities";

/** Rights that no request of this run can need, and why they are granted. */
const EXCUSED: Readonly<Record<string, string>> = {
  [`patch events in ${NAMESPACE} (role archway-upgrades)`]: "an event that is repeated counts up",
};

/** What pod placement may do as well, for itself: nothing of it changes an upgrade. */
const SHARED = [
  `create events in ${NAMESPACE} (role archway-upgrades)`,
  `patch events in ${NAMESPACE} (role archway-upgrades)`,
  `get secrets "archway-tls" in ${NAMESPACE} (role archway-upgrades)`,
  `get secrets "pull-secret" in openshift-config (role archway-upgrades-pull-secret)`,
  "list nodes (role archway-upgrades)",
  "list pods (role archway-upgrades)",
  "patch pods (role archway-upgrades-drain)",
];

const SETTINGS = (managerUrl: string): string => `
upgradeType: OSD
configManager: { source: OCM, ocmBaseUrl: "${managerUrl}" }
environment: { fedramp: true }
featureGate: { enabled: [PreHealthCheck] }
`;

/** The file integrity operator, which regulated environments have. */
async function createIntegrity(cluster: ClusterAccess): Promise<void> {
  await cluster.create("/api/v1/namespaces", { metadata: { name: "openshift-file-integrity" } });
  const [group, version, kind] = ["fileintegrity.openshift.io", "v1alpha1", "FileIntegrity"];
  await defineKind(cluster, { group, version, kind, plural: "fileintegrities" });
  const object = { apiVersion: `${group}/${version}`, kind, metadata: { name: "osd-fileintegrity" } };
  await cluster.create(INTEGRITY, object);
}

async function createStuckDrain(cluster: ClusterAccess): Promise<void> {
  const timeAdded = renderTime(Date.now() - 3 * 60 * 60_000);
  const configuration = { name: "rendered-gpu-1" };
  await cluster.apply([
    {
      ...{ apiVersion: "v1", kind: "Node" },
      metadata: {
        name: "stuck",
        labels: { "kubernetes.io/arch": "amd64", "node-role.kubernetes.io/worker": "" },
        annotations: { "machineconfiguration.openshift.io/state": "Working" },
      },
      spec: {
        unschedulable: true,
        taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule", timeAdded }],
      },
    },
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace: "shop", name: "default" } },
    {
      ...{ apiVersion: "v1", kind: "Pod" },
      metadata: { namespace: "shop", name: "web", finalizers: ["example.com/keep"] },
      spec: { nodeName: "stuck", containers: [{ name: "main", image: "registry.invalid/team/web:1" }] },
    },
    {
      ...{ apiVersion: "machineconfiguration.openshift.io/v1", kind: "MachineConfigPool", metadata: { name: "gpu" } },
      spec: { configuration },
    },
  ]);
  const counts = { machineCount: 1, updatedMachineCount: 0, readyMachineCount: 0, unavailableMachineCount: 1 };
  const status = { ...counts, degradedMachineCount: 0, configuration, conditions: [] };
  await cluster.patch(`${POOLS}/gpu/status`, { status });
}

async function upgrade(bed: UpgradeService): Promise<void> {
  const { cluster, surroundings: { manager }, openshift } = bed;
  await createIntegrity(cluster);
  await createStuckDrain(cluster);
  await bed.configure(SETTINGS(manager.origin));
  addPolicy(manager, "p1", { version: TO, at: renderTime(Date.now() - 2 * 60_000) });
  await bed.storePlan({ drain: { mode: "DeleteAndStripFinalizers" } });
  await bed.until("the pod to be removed", async () => {
    return !await cluster.exists("/api/v1/namespaces/shop/pods/web");
  });
  // Its pool goes with it: nothing is left to wait for there.
  for (const path of [`${POOLS}/gpu`, "/api/v1/nodes/stuck"]) await cluster.delete(path);
  // The plan of a policy that was carried out is removed at the next look at the policies.
  await bed.until("the end of the upgrade", async () => {
    const plan = await bed.readPlan();
    const isOver = manager.policies[0]?.state.value === "completed";
    return isOver && (plan === undefined || phaseOf(plan) === "Upgraded");
  });
  assert.deepEqual(openshift.asked, [`${TO}  ${imageOf(TO)}`]);
  const body = await cluster.get(`${INTEGRITY}/osd-fileintegrity`);
  assert.equal(read(body, "metadata", "annotations", "file-integrity.openshift.io/re-init"), "");
}

/** The same version for several architectures, proved with a machine of another one. */
async function migrate(bed: UpgradeService): Promise<void> {
  await bed.configure("configManager: { source: LOCAL }\n");
  expectStatus("delete", await bed.cluster.request("DELETE", PLAN), [200, 404]);
  await bed.storePlan({ desired: { version: TO, architecture: "Multi" }, smoke: { machineSetTemplate: "workers-a" } });
  await bed.untilPhase("Upgraded");
  assert.equal(read(await bed.cluster.get(CLUSTER_VERSION), "status", "desired", "architecture"), "Multi");
  assert.equal(bed.openshift.asked.at(-1), `${TO} Multi ${imageOf(TO, "aa")}`);
  assert.ok(isTrue(await bed.readPlan(), "MultiArchCapable"));
}

/** A plan for later that names an image alone gets the version of it. */
async function nameVersion(bed: UpgradeService): Promise<void> {
  await bed.cluster.delete(PLAN);
  const upgradeAt = renderTime(Date.now() + 12 * 60 * 60_000);
  await bed.storePlan({ desired: { image: bed.surroundings.payload }, upgradeAt });
  const version = async (): Promise<unknown> => read(await bed.readPlan(), "spec", "desired", "version");
  await bed.until("the plan to name its version", async () => await version() === TO);
}

Deno.test(
  "upgrades: the account has every right that it uses and uses every right that it has, and nothing is refused",
  { ignore },
  onService(async (bed) => {
    const { surroundings, openshift } = bed;
    const first = await bed.startReplica("one");
    await bed.untilPlansAreChecked();
    await upgrade(bed);
    await first.process.stop();
    await bed.cluster.patch(`/api/v1/namespaces/${NAMESPACE}/secrets/archway-tls`, {
      data: { "tls.crt": btoa("broken") },
    });
    const second = await bed.startReplica("two");
    await bed.untilPlansAreChecked();
    await migrate(bed);
    await nameVersion(bed);
    await second.process.stop();
    assert.deepEqual(await openshift.machineSets(), ["workers-a"]);
    assert.deepEqual(surroundings.active(), []);
    assert.deepEqual([...surroundings.asked].toSorted(), [
      ...["Alertmanager", "Deployment Validation Operator", "Prometheus", "update graph"],
    ]);
    const uses = await bed.uses();
    assert.ok(uses.length > 100);
    const rights = readRights(bed.objects, "archway-upgrades");
    assertUsed(rights, uses, Object.keys(EXCUSED));
    assert.deepEqual([...new Set(uses.filter(({ status }) => status === 403).map(renderUse))], []);
    const secrets = uses.filter(({ resource }) => resource === "secrets").map((use) => `${use.namespace}/${use.name}`);
    // A creation has no name in the audit log.
    const named = new Set(secrets.filter((name) => !name.endsWith("/undefined")));
    assert.deepEqual([...named].toSorted(), ["openshift-config/pull-secret", `${NAMESPACE}/archway-tls`]);
    assert.deepEqual(await allowedTo(PLACEMENT, { bed, objects: bed.objects }), SHARED.toSorted());
  }),
);

async function allowedTo(
  user: string,
  { bed, objects }: { readonly bed: UpgradeService; readonly objects: readonly ManifestObject[] },
): Promise<readonly string[]> {
  const groups = ["system:serviceaccounts", "system:serviceaccounts:archway-system", "system:authenticated"];
  const rights = readRights(objects, "archway-upgrades");
  const allowed: Right[] = [];
  for (const right of rights) if (await isAllowed(bed.cluster, { user, groups }, right)) allowed.push(right);
  return allowed.map(renderRight).toSorted();
}
