// What is done to the replicas themselves: killed, frozen, starved of memory, given the wrong time. Rows of the chaos table.
import { waitUntil } from "../cluster/support/wait.ts";
import { type ChaosBed, leaderOf, reviveReplicas, run } from "./bed.ts";
import type { Heal } from "./engine.ts";
import { atRelease, type ReleaseMoment } from "./watch_cuts.ts";

/** The phases of a release. */
export const MOMENTS: readonly ReleaseMoment[] = ["before the patch", "patch in flight", "before the events"];

/** The Lease of a dead leader ends after 15 s. */
const TAKEOVER_MS = 30_000;

/** Kills the leader at a moment of a release. The world is well again when the other leads. */
export function killLeader(moment: ReleaseMoment): (bed: ChaosBed) => Promise<Heal> {
  return async (bed) => {
    const leader = await leaderOf(bed);
    const killing = atRelease(moment, () => leader.kill("SIGKILL"));
    bed.apiProxy.intercept(killing);
    return async () => {
      await waitUntil("the leader to be killed", () => killing.hasFired() && !leader.isAlive());
      await leaderOf(bed, TAKEOVER_MS);
    };
  };
}

/** Kills both replicas; at the end both are started again. */
export async function killBoth(bed: ChaosBed): Promise<Heal> {
  for (const replica of bed.replicas) replica.kill("SIGKILL");
  await waitUntil("both to be dead", () => bed.replicas.every((replica) => !replica.isAlive()));
  return () => reviveReplicas(bed);
}

/** Stops both replicas in their tracks: connections stay open, and nothing answers. */
export function freezeBoth({ replicas }: ChaosBed): Promise<Heal> {
  for (const replica of replicas) replica.kill("SIGSTOP");
  return Promise.resolve(() => {
    for (const replica of replicas) replica.kill("SIGCONT");
    return Promise.resolve();
  });
}

/** Sets the wall clocks of both replicas wrong; at the end they are right again. */
export function jumpClocks(offsetMs: number): (bed: ChaosBed) => Promise<Heal> {
  return async (bed) => {
    await bed.jumpClocks(offsetMs);
    return () => bed.jumpClocks(0);
  };
}

/** Lets the leader have no more memory than it has. It may die of it, and is started again then, or make do. */
export async function starveLeader(bed: ChaosBed): Promise<Heal> {
  const leader = await leaderOf(bed);
  const limit = (data: string): Promise<boolean> => run("prlimit", ["--pid", String(leader.pid()), `--data=${data}`]);
  if (!await limit("1")) throw new Error("Cannot limit the leader's memory: prlimit failed. Install util-linux.");
  return async () => {
    if (leader.isAlive()) await limit("unlimited");
    await reviveReplicas(bed);
  };
}
