// What every cluster has whose pools have their node image built, before there is a pool: OpenShift's definitions, namespaces,
// the accounts of Archway and of its builds, with their roles and policies.
import { fileURLToPath } from "node:url";
import { BUILD_NAMESPACE } from "./build_objects.ts";
import { type ClusterAccess } from "./cluster_access.ts";
import type { PlaneState } from "./leased_plane.ts";
import { applyDefinitions, type OpenShiftKind, pathOfKind } from "./openshift_crds.ts";

const COMPONENT = fileURLToPath(new URL("../../../manifests/components/image-builds", import.meta.url));
const FILES = ["service_account", "role", "build_role", "policy"].flatMap((
  file,
) => ["-f", `${COMPONENT}/${file}.yaml`]);
export const BUILD_KINDS: readonly OpenShiftKind[] = [
  ...["machineosconfigs", "machineosbuilds", "machineconfigpools", "machineconfigs"] as const,
  ...["controllerconfigs", "machinesets", "clusterversions"] as const,
];

export const BUILDS_PLANE: PlaneState = {
  name: "builds",
  kinds: BUILD_KINDS.map(pathOfKind),
  areOwners: true,
  make: prepareBuilds,
};

export async function prepareBuilds(cluster: ClusterAccess): Promise<void> {
  await applyDefinitions(cluster, BUILD_KINDS);
  for (const name of [BUILD_NAMESPACE, "archway-system"]) {
    await cluster.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  await cluster.run(["apply", ...FILES]);
  const builder = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "machine-os-builder" } };
  await cluster.create(`/api/v1/namespaces/${BUILD_NAMESPACE}/serviceaccounts`, builder);
}
