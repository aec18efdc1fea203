// Writes the condition about the taints to the cluster config, beside the conditions of the operator.
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../lib/clock.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import { readOptional } from "../../lib/k8s/read_optional.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { CLUSTER_CONFIG_NAME } from "../../lib/names.ts";
import { renderTaintCondition, type TaintCondition } from "../../lib/operand/conditions.ts";
import { parseOperandConfig } from "../../lib/operand/config_view.ts";

/** What it needs. */
export interface ConditionDeps {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Writes it, unless it stands there already. Answers whether it stands now. Throws only when the signal aborts. */
export async function writeTaintCondition(
  { api, clock, log }: ConditionDeps,
  condition: TaintCondition,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const object = await readOptional(api, { type: Resource.clusterConfigs, name: CLUSTER_CONFIG_NAME, signal });
    if (object === undefined) return true;
    const { conditions: earlier, generation, resourceVersion } = parseOperandConfig(object);
    const nowMs = clock.nowMs() + api.serverClockOffsetMs();
    const conditions = renderTaintCondition(condition, { earlier, generation, nowMs });
    if (isDeepStrictEqual(conditions, earlier)) return true;
    const document = { metadata: { resourceVersion }, status: { conditions } };
    const target = { name: CLUSTER_CONFIG_NAME, subresource: "status" };
    await api.patch(Resource.clusterConfigs, target, { body: { kind: "merge", document }, signal });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    log.debug("condition not written yet", { reason: condition.reason, error: errorText(error) });
    return false;
  }
}
