// Two replicas behind a balancer on a real control plane, with the registry behind a fault proxy: the bed of chaos and soak.
import { type Archway, type ArchwayOptions, enablePlacement } from "../cluster/support/archway.ts";
import { startPair, untilAllGate } from "../cluster/support/lease.ts";
import { listNodeArchitectures } from "../cluster/support/pods.ts";
import { openOwnWalkBed, type OwnWalkBed } from "../cluster/support/walk_bed.ts";

export interface Pair extends OwnWalkBed {
  readonly replicas: readonly [Archway, Archway];
  readonly nodes: ReadonlyMap<string, string>;
}

/** Prepares what the replicas need beyond the bed, owned by the stack, and gives the options of a replica by its name. */
export type Prepare = (
  bed: OwnWalkBed,
  stack: AsyncDisposableStack,
) => Promise<(name: string) => Partial<ArchwayOptions>>;

/** Opens it; resolves when both replicas gate. */
export async function openPair(prepare: Prepare = () => Promise.resolve(() => ({}))): Promise<Pair> {
  await using undo = new AsyncDisposableStack();
  const bed = undo.use(await openOwnWalkBed());
  const optionsOf = await prepare(bed, undo);
  const enable = (): Promise<void> => enablePlacement(bed.controlPlane);
  const options = { first: optionsOf("first"), second: optionsOf("second"), enable };
  const { first, second } = undo.use(await startPair(bed, options));
  const replicas = [first, second] as const;
  await untilAllGate(replicas);
  const nodes = await listNodeArchitectures(bed.controlPlane);
  const owned = undo.move();
  return { ...bed, replicas, nodes, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
