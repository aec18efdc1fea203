// The coordinates of a control plane as text, for processes that did not start it.
import { type Coordinates, read } from "./cluster_access.ts";

/** Name of the environment variable that carries them to the patcher of the benchmark. */
export const CONTROL_PLANE_VARIABLE = "ARCHWAY_TEST_CONTROL_PLANE";

export function renderCoordinates(access: Coordinates): string {
  const { url, caFile, caPem, adminToken, kubeconfigFile, directory, auditLogFile, kubectlFile } = access;
  return JSON.stringify({ url, caFile, caPem, adminToken, kubeconfigFile, directory, auditLogFile, kubectlFile });
}

export function parseCoordinates(json: string): Coordinates {
  const value: unknown = JSON.parse(json);
  const text = (name: string): string => {
    const member = read(value, name);
    if (typeof member !== "string") throw new Error(`Cannot read the coordinates: "${name}" is not text`);
    return member;
  };
  return {
    url: text("url"),
    caFile: text("caFile"),
    caPem: text("caPem"),
    adminToken: text("adminToken"),
    kubeconfigFile: text("kubeconfigFile"),
    directory: text("directory"),
    kubectlFile: text("kubectlFile"),
    ...(read(value, "auditLogFile") === undefined ? {} : { auditLogFile: text("auditLogFile") }),
  };
}
