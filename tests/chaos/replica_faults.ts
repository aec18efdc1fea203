// What is done to the replicas themselves: killed, frozen, starved of memory, given the wrong time. Rows of the chaos table.
import { failedWebhookCalls } from "../cluster/support/pod_load.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { type ChaosBed, leaderOf, reviveReplicas, run } from "./bed.ts";
import type { Heal } from "./engine.ts";
import { felt } from "./registry_faults.ts";
import { atRelease, type ReleaseMoment } from "./watch_cuts.ts";

/** The phases of a release. */
export const MOMENTS: readonly ReleaseMoment[] = ["before the patch", "patch in flight", "before the events"];

/** The Lease of a dead leader ends after 15 s. */
const TAKEOVER_MS = 30_000;

/** Kills the leader at a moment of a release. The world is well again when the other leads. */
export function killLeader(moment: ReleaseMoment): (bed: ChaosBed) => Promise<Heal> {
  return async (bed) => {
    const leader = await leaderOf(bed);
    let killedMs = NaN;
    const killing = atRelease(moment, () => {
      killedMs = performance.now();
      leader.kill("SIGKILL");
    });
    bed.apiProxy.intercept(killing);
    return async () => {
      await waitUntil("the leader to be killed", () => killing.hasFired() && !leader.isAlive());
      await leaderOf(bed, TAKEOVER_MS);
      return `the other leads after ${((performance.now() - killedMs) / 1_000).toFixed(1)} s`;
    };
  };
}

/** Kills both replicas; at the end both are started again. */
export async function killBoth(bed: ChaosBed): Promise<Heal> {
  for (const replica of bed.replicas) replica.kill("SIGKILL");
  await waitUntil("both to be dead", () => bed.replicas.every((replica) => !replica.isAlive()));
  return async () => {
    await reviveReplicas(bed);
    return "both started again";
  };
}

/** Stops both replicas in their tracks: connections stay open, and nothing answers. */
export async function freezeBoth({ controlPlane, replicas }: ChaosBed): Promise<Heal> {
  const before = await failedWebhookCalls(controlPlane);
  for (const replica of replicas) replica.kill("SIGSTOP");
  return async () => {
    for (const replica of replicas) replica.kill("SIGCONT");
    return await felt(await failedWebhookCalls(controlPlane) - before, "calls timed out");
  };
}

/** Sets the wall clocks of both replicas wrong; at the end they are right again. */
export function jumpClocks(offsetMs: number): (bed: ChaosBed) => Promise<Heal> {
  return async (bed) => {
    await bed.jumpClocks(offsetMs);
    return async () => {
      const leader = await leaderOf(bed);
      const stamps = (await leader.logs()).map((line) => Date.parse(String(line["@timestamp"])) - Date.now());
      const minutes = Math.round((stamps.at(-1) ?? 0) / 60_000);
      await bed.jumpClocks(0);
      return await felt(Math.abs(minutes), "minutes off in the log");
    };
  };
}

/** Lets the leader have no more memory than it has. It may die of it, and is started again then, or make do. */
export async function starveLeader(bed: ChaosBed): Promise<Heal> {
  const leader = await leaderOf(bed);
  const limit = (data: string): Promise<boolean> => run("prlimit", ["--pid", String(leader.pid()), `--data=${data}`]);
  if (!await limit("1")) throw new Error("Cannot limit the leader's memory: prlimit failed. Install util-linux.");
  return async () => {
    const hasDied = !leader.isAlive();
    if (!hasDied) await limit("unlimited");
    await reviveReplicas(bed);
    return hasDied ? "the leader died and was started again" : "the leader made do";
  };
}
