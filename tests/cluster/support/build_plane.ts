// What every cluster has whose pools have their node image built, before there is a pool: OpenShift's definitions, namespaces,
// the accounts of Archway and of its builds, with their roles and policies.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { BUILD_NAMESPACE } from "./build_objects.ts";
import { type ClusterAccess, expectStatus } from "./cluster_access.ts";
import type { PlaneState } from "./leased_plane.ts";
import { applyDefinitions, type OpenShiftKind, pathOfKind } from "./openshift_crds.ts";

const COMPONENT = fileURLToPath(new URL("../../../manifests/components/image-builds", import.meta.url));
const FILES = ["service_account", "role", "build_role", "policy"].flatMap((
  file,
) => ["-f", `${COMPONENT}/${file}.yaml`]);
const KINDS: readonly OpenShiftKind[] = [
  ...["machineosconfigs", "machineosbuilds", "machineconfigpools", "machineconfigs"] as const,
  ...["controllerconfigs", "machinesets", "clusterversions"] as const,
];

export const BUILDS_PLANE: PlaneState = {
  name: "builds",
  kinds: KINDS.map(pathOfKind),
  areOwners: true,
  make: prepareBuilds,
};

export async function prepareBuilds(cluster: ClusterAccess): Promise<void> {
  await applyDefinitions(cluster, KINDS);
  const create = async (path: string, object: unknown): Promise<void> =>
    expectStatus(`create at ${path}`, await cluster.request("POST", path, object), [201]);
  for (const name of [BUILD_NAMESPACE, "archway-system"]) {
    await create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  const { code, stderr } = await cluster.kubectl(["apply", ...FILES]);
  assert.equal(code, 0, stderr);
  const builder = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "machine-os-builder" } };
  await create(`/api/v1/namespaces/${BUILD_NAMESPACE}/serviceaccounts`, builder);
}
