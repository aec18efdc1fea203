// How the controllers run: some on every replica, the writing ones on the replica that holds the Lease.
import { type Clock, holdsWithin } from "../lib/clock.ts";
import type { KubeApi } from "../lib/k8s/api.ts";
import { type LeaseView, runWithLease } from "../lib/k8s/lease.ts";
import type { Logger } from "../lib/log.ts";
import { LEASE_NAME } from "../lib/names.ts";

/** Anything that works until its signal aborts, and never rejects. */
export interface Runnable {
  run(signal: AbortSignal): Promise<void>;
}

/** What runs, and where. */
export interface ControllerDeps {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  readonly identity: string;
  /** Runs on each replica. */
  readonly everywhere: readonly Runnable[];
  /** Runs on the leader alone: everything that writes to the cluster. */
  readonly leading: readonly Runnable[];
  /** Whether the configs and credentials that decisions depend on are known. */
  readonly isSettled: () => boolean;
  readonly onLease: (view: LeaseView) => void;
}

/** Longest the leader waits for its configs and credentials before it decides without them (ms): a gate may not wait. */
const SETTLE_MS = 5_000;

/** What every replica follows, until the signal aborts. Never rejects. */
export async function runEverywhere({ everywhere }: ControllerDeps, signal: AbortSignal): Promise<void> {
  await Promise.all(everywhere.map((part) => part.run(signal)));
}

/** Takes part in the election and runs the writing controllers while leading. Gives the Lease up at the end. */
export async function runLeading(parts: ControllerDeps, signal: AbortSignal): Promise<void> {
  const { api, clock, log, namespace, identity, leading, onLease } = parts;
  await runWithLease({
    api,
    namespace,
    name: LEASE_NAME,
    identity,
    clock,
    log,
    onState: onLease,
    lead: async (term) => {
      await settle(parts, term);
      await Promise.all(leading.map((part) => part.run(term)));
    },
  }, signal);
}

/** Deciding without the cluster config or its pull secret would give wrong answers (D7): wait for them, but not for ever. */
async function settle({ isSettled, clock, log }: ControllerDeps, signal: AbortSignal): Promise<void> {
  const isKnown = await holdsWithin(isSettled, { clock, limitMs: SETTLE_MS, signal });
  if (!isKnown && !signal.aborted) log.warn("leading before all configs are known");
}
