// The floor of B2: a plain patcher in a process of its own, as Archway is.
import type { ClusterAccess } from "../cluster/support/cluster_access.ts";
import { CONTROL_PLANE_VARIABLE, renderCoordinates } from "../cluster/support/coordinates.ts";
import { startScript } from "./child.ts";

export async function startPatcher(cluster: ClusterAccess, workers: number): Promise<AsyncDisposable> {
  const env = { [CONTROL_PLANE_VARIABLE]: renderCoordinates(cluster) };
  const child = startScript("patcher_process.ts", [String(workers)], env);
  if (await child.readLine() === "") throw new Error("Cannot start the patcher: its process ended.");
  return child;
}
