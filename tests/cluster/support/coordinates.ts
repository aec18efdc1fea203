// The coordinates of a control plane as text, for processes that did not start it.
import type { Coordinates } from "./cluster_access.ts";

/** Name of the environment variable that carries them to the patcher of the benchmark. */
export const CONTROL_PLANE_VARIABLE = "ARCHWAY_TEST_CONTROL_PLANE";

export function renderCoordinates(access: Coordinates): string {
  const { url, caFile, caPem, adminToken, kubeconfigFile, directory, auditLogFile, kubectlFile } = access;
  return JSON.stringify({ url, caFile, caPem, adminToken, kubeconfigFile, directory, auditLogFile, kubectlFile });
}

/** What {@link renderCoordinates} has written. */
export function parseCoordinates(json: string): Coordinates {
  return JSON.parse(json);
}
