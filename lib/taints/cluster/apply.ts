// Applies a step at a limited rate. An object that was just written, or whose write failed, is held for a while.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import { addToleration, patchNode, type WriteOutcome } from "./write.ts";
import type { KubeApi } from "../../k8s/api.ts";
import { nodeKey, type TaintStep } from "../decide/next_step.ts";
import type { Refusals } from "../decide/progress.ts";
import type { RateLimiter, WriteSlots } from "../../k8s/write_limits.ts";

/** Longest wait (ms) for the watch to show a write, which mostly takes milliseconds. */
const SHOWN_MS = 5_000;
const STALE_MS = 500;
const FAILED_MS = 10_000;

/** Limit of held objects and of kept refusals: far more than are written in ten seconds, or named in a report. */
const MAX_KEPT = 1_000;

export interface Holds {
  /** `version`: the current resourceVersion. A change of it ends the hold early, unless the write failed. */
  isHeld(key: string, version?: string): boolean;
  /** Holds an object from the start of its write until the outcome is noted. */
  hold(key: string): void;
  settle(key: string, outcome: WriteOutcome, version?: string): void;
  readonly refusals: Refusals;
}

export function openHolds(clock: Clock): Holds {
  type Hold = { readonly untilMs: number; readonly version: string | undefined };
  const held = new LRUCache<string, Hold>({ max: MAX_KEPT });
  const refusals = new LRUCache<string, string>({ max: MAX_KEPT });
  return {
    isHeld: (key, version) => {
      const hold = held.get(key);
      if (hold === undefined) return false;
      const hasChanged = hold.version !== undefined && version !== undefined && hold.version !== version;
      if (!hasChanged && clock.monotonicMs() < hold.untilMs) return true;
      held.delete(key);
      return false;
    },
    hold: (key) => void held.set(key, { untilMs: Infinity, version: undefined }),
    settle: (key, outcome, version) => {
      const ms = outcome.kind === "stale" ? STALE_MS : outcome.kind === "failed" ? FAILED_MS : SHOWN_MS;
      held.set(key, {
        untilMs: clock.monotonicMs() + ms,
        version: outcome.kind === "failed" ? undefined : version,
      });
      if (outcome.kind === "failed") refusals.set(key, outcome.why);
      else refusals.delete(key);
    },
    refusals,
  };
}

type TaintChange = "tolerate" | "taint" | "untaint";

export interface ApplyDeps {
  readonly api: Pick<KubeApi, "patch">;
  readonly limiter: RateLimiter;
  readonly holds: Holds;
  readonly writes: WriteSlots;
  readonly onWrite: (change: TaintChange, key: string, outcome: WriteOutcome) => void;
}

export async function applyStep(deps: ApplyDeps, step: TaintStep, signal: AbortSignal): Promise<void> {
  const { api, limiter, holds, writes, onWrite } = deps;
  const write = async (
    change: TaintChange,
    { key, version }: { readonly key: string; readonly version?: string },
    send: () => Promise<WriteOutcome>,
  ): Promise<void> => {
    await limiter.wait(signal);
    signal.throwIfAborted();
    holds.hold(key);
    await writes.start(async () => {
      // An aborted write counts as stale, so that the object can be written soon after the next start.
      let outcome: WriteOutcome = { kind: "stale" };
      try {
        outcome = await send();
      } finally {
        holds.settle(key, outcome, version);
      }
      onWrite(change, key, outcome);
    });
  };
  if (step.kind === "tolerate") {
    for (const need of step.needs) await write("tolerate", need.pod, () => addToleration({ api, signal }, need));
  }
  if (step.kind !== "taint" && step.kind !== "untaint") return;
  const { node: name, version, operations } = step;
  await write(step.kind, { key: nodeKey(name), version }, () => patchNode({ api, signal }, { name, operations }));
}
