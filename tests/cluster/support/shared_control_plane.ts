// A control plane for tests that leave its servers alone. Tests that restart a server or set flags use startControlPlane()
// instead.
import type { ClusterAccess } from "./cluster_access.ts";
import { SHAREABLE, startControlPlane } from "./control_plane.ts";
import { BARE, INSTALLED, leasePlane, type PlaneState } from "./leased_plane.ts";
import { SHARED_NODES } from "./shared_nodes.ts";

export interface SharedControlPlane extends ClusterAccess, AsyncDisposable {}

/** One with {@link SHARED_NODES} that the run keeps ready, else one of the test's own. Archway's kinds may be installed. */
export async function sharedControlPlane(): Promise<SharedControlPlane> {
  const leased = await lease(INSTALLED);
  if (leased !== undefined) return leased;
  const own = await startControlPlane(SHAREABLE);
  await own.addNodes(SHARED_NODES);
  return own;
}

export async function bareControlPlane(): Promise<SharedControlPlane> {
  return await controlPlaneWith(BARE);
}

export async function controlPlaneWith(state: PlaneState): Promise<SharedControlPlane> {
  const leased = await lease(state);
  if (leased !== undefined) return leased;
  await using undo = new AsyncDisposableStack();
  const own = undo.use(await startControlPlane(SHAREABLE));
  await state.make?.(own);
  undo.move();
  return own;
}

async function lease(state: PlaneState): Promise<SharedControlPlane | undefined> {
  const leased = await leasePlane(state);
  if (leased === undefined) return undefined;
  return { ...leased.controlPlane, [Symbol.asyncDispose]: () => leased[Symbol.asyncDispose]() };
}
