// When drains are checked: once a minute while nodes are upgraded, in reconciles of their own, so that none costs the requests of both,
// and a cluster manager that hangs holds up the upgrade alone.
import { serverNowMs } from "../../lib/k8s/api.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import type { UpgradeInput } from "../../lib/upgrades/cluster/plan_input.ts";
import { DONE, requeueAfter } from "../controller.ts";
import type { UpgradesDeps } from "./deps.ts";
import type { Drains } from "./drains.ts";

export const DRAINS_MS = 60_000;

export interface DrainTurns {
  /** To be called by each reconcile, with what it read. */
  follow(input: UpgradeInput): void;
  /** Checks them, by the plan and the settings as they were read last; again a minute later. Rejects when something cannot be read. */
  take(signal: AbortSignal): Promise<ReconcileResult>;
}

/** Makes them; `onDue` is called when the next turn is to be taken. */
export function openDrainTurns(
  { clock, readApi }: Pick<UpgradesDeps, "clock" | "readApi">,
  { drains, onDue }: { readonly drains: Pick<Drains, "check" | "forget">; readonly onDue: () => void },
): DrainTurns {
  let latest: UpgradeInput | undefined;
  let dueMs = 0;
  // From here, not from the end of the turn: reconciles come a minute apart, and the next one is to find it due.
  const begin = (): void => {
    dueMs = clock.monotonicMs() + DRAINS_MS;
  };
  return {
    follow: (input) => {
      latest = input;
      if (input.base === undefined || !isUpgrading(input)) return drains.forget();
      if (clock.monotonicMs() < dueMs) return;
      begin();
      onDue();
    },
    take: async (signal) => {
      const input = latest;
      if (input?.base === undefined || !isUpgrading(input)) return DONE;
      begin();
      await drains.check(input.base, { nowMs: serverNowMs(clock, readApi), signal });
      return requeueAfter(DRAINS_MS);
    },
  };
}

/** Whether the newest upgrade of the plan was under way when it was read. */
export function isUpgrading({ known }: UpgradeInput): boolean {
  return known?.status.history[0]?.phase === "Upgrading";
}
