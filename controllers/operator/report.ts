// The operator's reports: conditions of the cluster config, and events about it.
import { serverNowMs } from "../../lib/k8s/api.ts";
import { classifyWriteFailure } from "../../lib/k8s/api_error.ts";
import { eventObjectOf } from "../../lib/k8s/event_input.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { CLUSTER_CONFIG_NAME } from "../../lib/names.ts";
import { readUnlabelledNodes } from "../../lib/placement/cluster/architectures.ts";
import { renderConditions } from "../../lib/operator/decide/conditions.ts";
import type { WaitReason } from "../../lib/operator/decide/operand_step.ts";
import { patchConfigConditions } from "../config_conditions.ts";
import type { OperatorDeps, OperatorFacts, OperatorRun } from "./deps.ts";

/** Writes the status for the facts. The next reconcile retries failures: a condition must not delay the operand. */
export async function writeStatus(
  { api, clock, log, whyNotGating, signal }: OperatorRun,
  { config, seen, gatedPods, monitorState: monitor }: OperatorFacts,
  waiting: WaitReason | undefined,
): Promise<void> {
  if (config === undefined) return;
  const { conditions: earlier, generation } = config;
  const context = { earlier, generation, nowMs: serverNowMs(clock, api), gatedPods, waiting, monitor };
  try {
    const unlabelledNodes = await readUnlabelledNodes(api, signal);
    const conditions = renderConditions(seen, { ...context, gatingStopped: whyNotGating(), unlabelledNodes });
    await patchConfigConditions({ api, signal }, config, conditions);
  } catch (error) {
    if (signal.aborted) throw error;
    const failure = classifyWriteFailure(error);
    const level = failure === "gone" || failure === "stale" ? "debug" : "warn";
    log[level]("conditions not written", { failure, error: errorText(error) });
  }
}

/** Records an event as the MTO does. The config has no namespace, so the event uses the operator's. */
export function recordConfigEvent(
  { events, settings: { namespace } }: OperatorDeps,
  event: { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string },
): void {
  const object = eventObjectOf(Resource.clusterConfigs, { name: CLUSTER_CONFIG_NAME, namespace });
  events.record({ object, ...event });
}
