// Writes conditions of the cluster config through its status subresource, only when they change.
import { isDeepStrictEqual } from "node:util";
import type { V1Condition } from "@kubernetes/client-node";
import type { Condition } from "../lib/vocabulary/condition.ts";
import type { Clock } from "../lib/clock.ts";
import { type KubeApi, readOptional, serverNowMs } from "../lib/k8s/api.ts";
import { Resource, type Wire } from "../lib/k8s/types.ts";
import { errorText, type Logger } from "../lib/log.ts";
import { CLUSTER_CONFIG_NAME } from "../lib/names.ts";
import type { EarlierConditions } from "../lib/operator/decide/conditions.ts";
import { type OperandConfig, parseOperandConfig } from "../lib/operator/decide/config_view.ts";

export interface ConfigConditionsDeps {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Writes the conditions that `render` returns for the cluster config. Never throws; the log names `reason`. */
export async function writeConfigConditions(
  { api, clock, log, signal }: ConfigConditionsDeps & { readonly signal: AbortSignal },
  reason: string,
  render: (earlier: EarlierConditions) => readonly Condition[],
): Promise<"there" | "absent" | "failed"> {
  try {
    const object = await readOptional(api, { type: Resource.clusterConfigs, name: CLUSTER_CONFIG_NAME, signal });
    if (object === undefined) return "absent";
    const config = parseOperandConfig(object);
    const { conditions: earlier, generation } = config;
    const nowMs = serverNowMs(clock, api);
    await patchConfigConditions({ api, signal }, config, render({ earlier, generation, nowMs }));
    return "there";
  } catch (error) {
    log.debug("condition not written yet", { reason, error: errorText(error) });
    return "failed";
  }
}

/** Replaces the conditions that were read, unless equal. Throws what `patch` throws. */
export async function patchConfigConditions(
  { api, signal }: { readonly api: Pick<KubeApi, "patch">; readonly signal: AbortSignal },
  config: Pick<OperandConfig, "conditions" | "resourceVersion">,
  conditions: readonly Condition[],
): Promise<void> {
  if (isDeepStrictEqual(conditions, config.conditions)) return;
  // If another client wrote conditions meanwhile, the resourceVersion causes a conflict.
  const written: readonly Wire<V1Condition>[] = conditions;
  const document = { metadata: { resourceVersion: config.resourceVersion }, status: { conditions: written } };
  const target = { name: CLUSTER_CONFIG_NAME, subresource: "status" };
  await api.patch(Resource.clusterConfigs, target, { body: { kind: "merge", document }, signal });
}
