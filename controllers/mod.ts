// How the controllers run: some on every replica, those that write on the replica that holds the Lease.
import { type Clock, holdsWithin } from "../lib/clock.ts";
import type { Election } from "../lib/k8s/lease.ts";
import type { HolderState } from "../lib/k8s/lease_lock.ts";
import type { Logger } from "../lib/log.ts";
import type { Runnable } from "./controller.ts";

export interface Controllers {
  readonly clock: Clock;
  readonly log: Logger;
  readonly election: Election;
  readonly everywhere: readonly Runnable[];
  readonly leading: readonly Runnable[];
  /** The state that the leader publishes: whether it can watch and release pods. */
  readonly leaderState: () => HolderState;
  /** Whether the configs and credentials that decisions depend on are known. */
  readonly isSettled: () => boolean;
}

/** Longest the leader waits for its configs and credentials before it decides without them (ms): a gate may not wait. */
const SETTLE_MS = 5_000;

export async function runEverywhere({ everywhere }: Controllers, signal: AbortSignal): Promise<void> {
  await Promise.all(everywhere.map((runnable) => runnable.run(signal)));
}

/** Takes part in the election and runs the writing controllers while leading. Gives the Lease up at the end. */
export async function runLeading(controllers: Controllers, signal: AbortSignal): Promise<void> {
  const { election, leading, leaderState } = controllers;
  await election.run(
    async (term) => {
      await settle(controllers, term);
      await Promise.all(leading.map((runnable) => runnable.run(term)));
    },
    signal,
    leaderState,
  );
}

/** Deciding without the cluster config or its pull secret would give wrong answers: wait for them, but not for ever. */
async function settle({ isSettled, clock, log }: Controllers, signal: AbortSignal): Promise<void> {
  const isKnown = await holdsWithin(isSettled, { clock, limitMs: SETTLE_MS, signal });
  if (!isKnown && !signal.aborted) log.warn("leading before all configs are known");
}
