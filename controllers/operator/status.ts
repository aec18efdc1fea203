// Writes the conditions of the cluster config through its status subresource, only when they changed.
import { isDeepStrictEqual } from "node:util";
import { classifyWriteFailure } from "../../lib/k8s/errors.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { CLUSTER_CONFIG_NAME } from "../../lib/names.ts";
import { renderConditions } from "../../lib/operand/conditions.ts";
import type { WaitReason } from "../../lib/operand/lifecycle.ts";
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
    nowMs: clock.nowMs() + api.serverClockOffsetMs(),
    gatedPods,
    waiting: options.waiting,
    gatingStopped: deps.gatingStopped(),
    monitor: monitorState,
  });
  if (isDeepStrictEqual(conditions, config.conditions)) return;
  // The resourceVersion makes this a conflict, not an overwrite, when someone else wrote conditions meanwhile.
  const document = { metadata: { resourceVersion: config.resourceVersion }, status: { conditions } };
  const target = { name: CLUSTER_CONFIG_NAME, subresource: "status" };
  try {
    await api.patch(Resource.clusterConfigs, target, { body: { kind: "merge", document }, signal: options.signal });
  } catch (error) {
    if (options.signal.aborted) throw error;
    const failure = classifyWriteFailure(error);
    const log = failure === "gone" || failure === "stale" ? "debug" : "warn";
    deps.log[log]("conditions not written", { failure, error: errorText(error) });
  }
}
