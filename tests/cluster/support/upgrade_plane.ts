// What every cluster has that can be upgraded, before it has a version: OpenShift's definitions, that of plans, and namespaces.
import { type ClusterAccess, expectStatus, read } from "./cluster_access.ts";
import type { PlaneState } from "./leased_plane.ts";
import { applyDefinitions, type OpenShiftKind, pathOfKind } from "./openshift_crds.ts";
import { PLANS } from "./simulated_openshift.ts";
import { waitUntil } from "./wait.ts";

export const PLAN = `${PLANS}/managed-upgrade-config`;
const PLAN_DEFINITION = new URL("../../../manifests/components/upgrades/crd.yaml", import.meta.url).pathname;
const KINDS: readonly OpenShiftKind[] = [
  ...["clusterversions", "clusteroperators", "machineconfigpools", "machineconfigs", "machineosbuilds"] as const,
  ...["machinesets", "machines"] as const,
];

export const UPGRADES_PLANE: PlaneState = {
  name: "upgrades",
  kinds: [...KINDS.map(pathOfKind), "/apis/upgrade.managed.openshift.io/v1alpha1/upgradeconfigs"],
  make: prepareUpgrades,
};

/** That of the newest entry in the history of a plan. */
export function phaseOf(plan: unknown): unknown {
  return read(plan, "status", "history", 0, "phase");
}

export async function prepareUpgrades(cluster: ClusterAccess): Promise<void> {
  await applyDefinitions(cluster, KINDS);
  await cluster.run(["apply", "--server-side", "-f", PLAN_DEFINITION]);
  for (const name of ["openshift-managed-upgrade-operator", "openshift-machine-api"]) {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
    expectStatus("create a namespace", await cluster.request("POST", "/api/v1/namespaces", namespace), [201, 409]);
  }
  await waitUntil("the plans to be served", () => cluster.exists(PLANS));
}
