// What is done to the replicas themselves: killed, frozen, starved of memory, given the wrong time. Rows of the chaos table.
import { failedWebhookCalls } from "../cluster/support/pod_load.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { type ChaosBed, leaderOf, reviveReplicas } from "./bed.ts";
import type { Heal } from "./engine.ts";
import { felt } from "./registry_faults.ts";
import { atRelease, type ReleaseMoment } from "./watch_cuts.ts";

export const MOMENTS: readonly ReleaseMoment[] = ["before the patch", "patch in flight", "before the events"];

/** The Lease of a dead leader ends after 6 s; a loaded machine takes longer. */
const TAKEOVER_MS = 30_000;

/** Kills the leader at a moment of a release. The fault has ended when the other leads. */
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

export async function killBoth(bed: ChaosBed): Promise<Heal> {
  for (const replica of bed.replicas) replica.kill("SIGKILL");
  await waitUntil("both to be dead", () => bed.replicas.every((replica) => !replica.isAlive()));
  // No replica is left that could be kept waiting: the next one finds pods of any age and a registry that answers.
  bed.proxy.setFaults([]);
  return async () => {
    await reviveReplicas(bed);
    return "both started again";
  };
}

export async function freezeBoth({ controlPlane, replicas }: ChaosBed): Promise<Heal> {
  const before = await failedWebhookCalls(controlPlane);
  for (const replica of replicas) replica.kill("SIGSTOP");
  return async () => {
    for (const replica of replicas) replica.kill("SIGCONT");
    return await felt(await failedWebhookCalls(controlPlane) - before, "call timed out");
  };
}

export function jumpClocks(offsetMs: number): (bed: ChaosBed) => Promise<Heal> {
  return async (bed) => {
    await bed.jumpClocks(offsetMs);
    return async () => {
      await bed.jumpClocks(0);
      return "both clocks jumped, twice";
    };
  };
}

/** Makes the leader leak until it is killed at its memory limit; it is started again, as the kubelet would. */
export async function exhaustMemory(bed: ChaosBed): Promise<Heal> {
  const leader = await leaderOf(bed);
  leader.kill("SIGUSR1");
  return async () => {
    await waitUntil("the leader to run out of memory", () => !leader.isAlive());
    await reviveReplicas(bed);
    await leaderOf(bed, TAKEOVER_MS);
    return "it died and was started again";
  };
}
