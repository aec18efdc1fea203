// The operator: keeps what Archway needs in the cluster while a ClusterPodPlacementConfig exists, and leaves in order.
// Opened by main on every replica, run by the leader alone. Walk: wake → gather → decide → apply → report.
import { backoffMs } from "../../lib/clock.ts";
import { classifyWriteFailure } from "../../lib/k8s/errors.ts";
import { errorText } from "../../lib/log.ts";
import { decideOperandStep, type OperandStep } from "../../lib/operand/lifecycle.ts";
import { applyStep } from "./apply.ts";
import { writeBundles } from "./bundles.ts";
import { gatherFacts, type Since } from "./gather.ts";
import type { OperatorParts } from "./parts.ts";
import { writeStatus } from "./status.ts";

/** The running operator. */
export interface Operator {
  /** Something it looks at may have changed: look soon. Cheap, callable at any time. */
  poke(): void;
  /** Works until the signal aborts; never rejects. For the leader only, one run at a time. */
  run(signal: AbortSignal): Promise<void>;
}

/** Steps of one look at most: the longest way from start to end takes nine. */
const MAX_STEPS = 16;
const BACKOFF = { baseMs: 500, capMs: 15_000 } as const;

/** Makes the operator. Nothing happens before `run`. */
export function openOperator(parts: OperatorParts): Operator {
  const { clock, log, settings } = parts;
  let wake = new AbortController();

  async function run(signal: AbortSignal): Promise<void> {
    const since: Since = { unservedMs: undefined, leavingMs: undefined };
    for (let failures = 0; !signal.aborted;) {
      wake = new AbortController();
      let waitMs = settings.resyncMs;
      try {
        waitMs = Math.min(waitMs, await look({ since, signal }));
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        waitMs = backoffMs(failures, BACKOFF);
        const stale = classifyWriteFailure(error) === "stale";
        log[stale ? "debug" : "warn"]("operator could not finish", { error: errorText(error), failures });
      }
      await clock.sleep(waitMs, AbortSignal.any([signal, wake.signal]));
    }
  }

  /** One look at everything; answers when to look again at the latest (ms). */
  async function look(options: { readonly since: Since; readonly signal: AbortSignal }): Promise<number> {
    const { signal } = options;
    await writeBundles(parts, signal);
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      const facts = await gatherFacts(parts, options);
      const step = decideOperandStep(facts);
      if (isWorthReporting(step)) {
        await writeStatus(parts, facts, { waiting: step.kind === "wait" ? step.reason : undefined, signal });
      }
      if (step.kind === "done") return settings.resyncMs;
      if (step.kind === "wait") return step.retryMs;
      await applyStep(parts, step, { facts, signal });
    }
    return BACKOFF.baseMs;
  }

  return { poke: () => wake.abort(), run };
}

/** A finalizer's change is guarded by the version that was read; a status write in between would outdate it. */
function isWorthReporting(step: OperandStep): boolean {
  return step.kind === "done" || step.kind === "wait" || step.target !== "finalizer";
}
