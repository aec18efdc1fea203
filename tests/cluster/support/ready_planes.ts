// Makes the control planes that tests lease.
import { installArchway } from "./archway.ts";
import { SHAREABLE, startControlPlane } from "./control_plane.ts";
import { renderCoordinates } from "./coordinates.ts";
import { readState } from "./etcd_state.ts";
import type { ReadyPlane } from "./leased_plane.ts";
import { SHARED_NODES } from "./shared_nodes.ts";

export async function startReadyPlanes(folder: string, count: number): Promise<AsyncDisposable> {
  await using undo = new AsyncDisposableStack();
  const starting = Array.from({ length: count }, async (_, number) => {
    const controlPlane = undo.use(await startControlPlane(SHAREABLE));
    const bare = await readState(controlPlane.etcdUrl);
    const [kubeconfigFile] = await Promise.all([installArchway(controlPlane), controlPlane.addNodes(SHARED_NODES)]);
    const plane: ReadyPlane = {
      coordinates: renderCoordinates(controlPlane),
      etcdUrl: controlPlane.etcdUrl,
      kubeconfigFile,
      states: { bare, installed: await readState(controlPlane.etcdUrl) },
    };
    await Deno.writeTextFile(`${folder}/${number}.json`, JSON.stringify(plane));
  });
  // All of them, so that what has started when another one fails is stopped.
  const results = await Promise.allSettled(starting);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return undo.move();
}
