// One control plane for all test files of a run. run.ts starts it and leaves its coordinates in the environment; a test file
// that is run by itself starts its own. Tests that restart a part must use startControlPlane() instead.
import { AdminConnection, type ClusterAccess, type Coordinates, type NodeSpec, read } from "./cluster_access.ts";
import { startControlPlane } from "./control_plane.ts";

/** Name of the environment variable with the {@link Coordinates} as JSON. */
export const CONTROL_PLANE_VARIABLE = "ARCHWAY_TEST_CONTROL_PLANE";

/** The nodes that a shared control plane has. Leave them as they are; a test adds nodes of its own only with a taint. */
export const SHARED_NODES: readonly NodeSpec[] = ["amd64", "arm64", "ppc64le", "s390x"].flatMap((arch) =>
  [1, 2].map((number) => ({ name: `${arch}-${number}`, arch }))
);

/** Access that ends with its user, and what must not end with it does not. */
export interface SharedControlPlane extends ClusterAccess, AsyncDisposable {}

/** Connects to the control plane of this run, with {@link SHARED_NODES}; starts one when this run has none. */
export async function sharedControlPlane(): Promise<SharedControlPlane> {
  const text = Deno.env.get(CONTROL_PLANE_VARIABLE);
  if (text !== undefined) return attach(parseCoordinates(text));
  const own = await startControlPlane({ auditLog: true });
  await own.addNodes(SHARED_NODES);
  return own;
}

function attach(coordinates: Coordinates): SharedControlPlane {
  const connection = new AdminConnection(coordinates);
  return {
    ...connection.access,
    [Symbol.asyncDispose]: () => Promise.resolve(connection[Symbol.dispose]()),
  };
}

/** The coordinates of a control plane as text for {@link CONTROL_PLANE_VARIABLE}. */
export function renderCoordinates(access: Coordinates): string {
  const { url, caFile, caPem, adminToken, kubeconfigFile, directory, auditLogFile, kubectlFile } = access;
  return JSON.stringify({ url, caFile, caPem, adminToken, kubeconfigFile, directory, auditLogFile, kubectlFile });
}

/** Reads what {@link renderCoordinates} wrote. */
export function parseCoordinates(json: string): Coordinates {
  const value: unknown = JSON.parse(json);
  const text = (name: string): string => {
    const member = read(value, name);
    if (typeof member !== "string") throw new Error(`Cannot read ${CONTROL_PLANE_VARIABLE}: "${name}" is not text`);
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
