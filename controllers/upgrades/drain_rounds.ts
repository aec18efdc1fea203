// When drains are checked: once a minute while an upgrade is under way, beside its reconciles.
import { serverNowMs } from "../../lib/k8s/api.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import type { UpgradeInput } from "../../lib/upgrades/cluster/plan_input.ts";
import { DONE, requeueAfter } from "../controller.ts";
import type { UpgradesDeps } from "./deps.ts";
import type { Drains } from "./drains.ts";

export const DRAINS_MS = 60_000;

interface DrainRounds {
  /** Each reconcile must call it with its input. */
  follow(input: UpgradeInput): void;
  /** Checks the drains by the last plan and settings, and again a minute later. Rejects when a read fails. */
  take(signal: AbortSignal): Promise<ReconcileResult>;
}

export function openDrainRounds(
  { clock, readApi }: Pick<UpgradesDeps, "clock" | "readApi">,
  { drains, onDue }: { readonly drains: Pick<Drains, "check" | "forget">; readonly onDue: () => void },
): DrainRounds {
  let latest: UpgradeInput | undefined;
  let dueMs = 0;
  // The time counts from the start of a round, so that the next reconcile, a minute later, finds a round due.
  const begin = (): void => {
    dueMs = clock.monotonicMs() + DRAINS_MS;
  };
  return {
    follow: (input) => {
      latest = input;
      if (input.facts === undefined || !isUpgrading(input)) return drains.forget();
      if (clock.monotonicMs() < dueMs) return;
      begin();
      onDue();
    },
    take: async (signal) => {
      const input = latest;
      if (input?.facts === undefined || !isUpgrading(input)) return DONE;
      begin();
      await drains.check(input.facts, { nowMs: serverNowMs(clock, readApi), signal });
      return requeueAfter(DRAINS_MS);
    },
  };
}

export function isUpgrading({ known }: UpgradeInput): boolean {
  return known?.status.history[0]?.phase === "Upgrading";
}
