// The conditions of the cluster config as the operator observes them.
import { serverNowMs } from "../../lib/k8s/api.ts";
import { classifyWriteFailure } from "../../lib/k8s/errors.ts";
import { errorText } from "../../lib/log.ts";
import { renderConditions } from "../../lib/operand/conditions.ts";
import type { WaitReason } from "../../lib/operand/operand_step.ts";
import { patchConfigConditions } from "../config_conditions.ts";
import type { OperatorFacts } from "./gather.ts";
import type { OperatorDeps } from "./deps.ts";

/** Writes the status that fits the facts. A failure is left to the next reconcile: a condition must not delay the operand. */
export async function writeStatus(
  deps: OperatorDeps,
  facts: OperatorFacts,
  options: { readonly waiting: WaitReason | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const { api, clock } = deps;
  const { config, seen, gatedPods, monitorState } = facts;
  if (config === undefined) return;
  const conditions = renderConditions(seen, {
    earlier: config.conditions,
    generation: config.generation,
    nowMs: serverNowMs(clock, api),
    gatedPods,
    waiting: options.waiting,
    gatingStopped: deps.gatingStopped(),
    monitor: monitorState,
  });
  try {
    await patchConfigConditions(api, { config, conditions, signal: options.signal });
  } catch (error) {
    if (options.signal.aborted) throw error;
    const failure = classifyWriteFailure(error);
    const log = failure === "gone" || failure === "stale" ? "debug" : "warn";
    deps.log[log]("conditions not written", { failure, error: errorText(error) });
  }
}
