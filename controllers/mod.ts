// The controllers and what each needs. `everywhere` runs on each replica, `leading` on the one that holds the Lease.
import type { Clock } from "../lib/clock.ts";
import type { GlobalPullSecret } from "../lib/images/global_pull_secret.ts";
import type { KubeApi } from "../lib/k8s/api.ts";
import { type LeaseView, runWithLease } from "../lib/k8s/lease.ts";
import type { Logger } from "../lib/log.ts";
import { LEASE_NAME } from "../lib/names.ts";
import type { Configs } from "./configs/controller.ts";
import type { Operator } from "./operator/controller.ts";
import type { PodPlacement } from "./pod_placement/controller.ts";

/** What runs. */
export interface ControllerParts {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  readonly identity: string;
  readonly configs: Configs;
  readonly globalPullSecret: GlobalPullSecret | undefined;
  readonly podPlacement: PodPlacement;
  readonly operator: Operator;
  readonly onLease: (view: LeaseView) => void;
}

/** Longest the leader waits for its configs and credentials before it decides without them (ms): a gate may not wait. */
const SETTLE_MS = 5_000;

/** What every replica follows, until the signal aborts. Never rejects. */
export async function runEverywhere(
  { configs, globalPullSecret }: ControllerParts,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([configs.run(signal), globalPullSecret?.run(signal)]);
}

/** Takes part in the election and runs the writing controllers while leading. Gives the Lease up at the end. */
export async function runLeading(parts: ControllerParts, signal: AbortSignal): Promise<void> {
  const { api, clock, log, namespace, identity, podPlacement, operator, onLease } = parts;
  await runWithLease({
    api,
    namespace,
    name: LEASE_NAME,
    identity,
    clock,
    log,
    onState: onLease,
    lead: async (term) => {
      await settled(parts, term);
      log.info("leading");
      await Promise.all([podPlacement.run(term), operator.run(term)]);
      log.info("no longer leading");
    },
  }, signal);
}

/** Deciding without the cluster config or its pull secret would give wrong answers (D7): wait for them, but not for ever. */
async function settled({ configs, globalPullSecret, clock, log }: ControllerParts, signal: AbortSignal): Promise<void> {
  const startedMs = clock.monotonicMs();
  while (!signal.aborted && !(configs.hasSynced() && (globalPullSecret?.isSettled() ?? true))) {
    if (clock.monotonicMs() - startedMs > SETTLE_MS) return log.warn("leading before all configs are known");
    await clock.sleep(25, signal);
  }
}
