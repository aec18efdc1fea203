// Who is measured, on the same control plane and registry: Archway, or another operator (see original.ts).
import { type Archway, disablePlacement, enablePlacement } from "../cluster/support/archway.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import type { WalkBed } from "../cluster/support/walk_bed.ts";
import { asInstalled } from "./as_installed.ts";

export interface Contender extends AsyncDisposable {
  readonly name: string;
}

export type StartContender<Started = Contender> = (bed: WalkBed, spec?: unknown) => Promise<Started>;

export interface ArchwayContender extends Contender {
  readonly archway: Archway;
}

export async function startArchwayContender(
  bed: WalkBed,
  { spec = {}, args = [] }: { readonly spec?: unknown; readonly args?: readonly string[] } = {},
): Promise<ArchwayContender> {
  const name = `bench-${crypto.randomUUID().slice(0, 8)}`;
  const archway = await bed.startReplica({ name, args, persistCache: true, ...await asInstalled() });
  await enablePlacement(bed.controlPlane, spec);
  await waitUntil("it to lead and gate", async () => await archway.metric("archway_gating") === 1);
  return {
    name: "archway",
    archway,
    [Symbol.asyncDispose]: async () => {
      await disablePlacement(bed.controlPlane);
      await archway.stop();
    },
  };
}
