// Writes conditions of the cluster config through its status subresource, only when they change.
import { isDeepStrictEqual } from "node:util";
import type { V1Condition } from "@kubernetes/client-node";
import type { Clock } from "../lib/clock.ts";
import { type KubeApi, serverNowMs } from "../lib/k8s/api.ts";
import { readOptional } from "../lib/k8s/read_optional.ts";
import { Resource } from "../lib/k8s/types.ts";
import type { Wire } from "../lib/k8s/wire.ts";
import { errorText, type Logger } from "../lib/log.ts";
import { CLUSTER_CONFIG_NAME } from "../lib/names.ts";
import type { EarlierConditions } from "../lib/operand/conditions.ts";
import { type Condition, type OperandConfig, parseOperandConfig } from "../lib/operand/config_view.ts";

/** What it needs. */
export interface ConfigConditionsDeps {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Conditions to write. */
export interface ConditionsWrite {
  /** Named in the log when the write fails. */
  readonly reason: string;
  /** All conditions, those of others included, from the ones that the config has. */
  readonly render: (earlier: EarlierConditions) => readonly Condition[];
  readonly signal: AbortSignal;
}

/**
 * Reads the cluster config and writes its conditions. `there`: they are as they should be; `absent`: there is no config;
 * `failed`: the API server refused or did not answer, or the signal aborted. Never throws.
 */
export async function writeConfigConditions(
  { api, clock, log }: ConfigConditionsDeps,
  { reason, render, signal }: ConditionsWrite,
): Promise<"there" | "absent" | "failed"> {
  try {
    const object = await readOptional(api, { type: Resource.clusterConfigs, name: CLUSTER_CONFIG_NAME, signal });
    if (object === undefined) return "absent";
    const config = parseOperandConfig(object);
    const { conditions: earlier, generation } = config;
    const nowMs = serverNowMs(clock, api);
    await patchConfigConditions(api, { config, conditions: render({ earlier, generation, nowMs }), signal });
    return "there";
  } catch (error) {
    log.debug("condition not written yet", { reason, error: errorText(error) });
    return "failed";
  }
}

/** Writes conditions over those that were read, unless they are equal. Throws what `patch` throws. */
export async function patchConfigConditions(
  api: Pick<KubeApi, "patch">,
  { config, conditions, signal }: {
    readonly config: Pick<OperandConfig, "conditions" | "resourceVersion">;
    readonly conditions: readonly Condition[];
    readonly signal: AbortSignal;
  },
): Promise<void> {
  if (isDeepStrictEqual(conditions, config.conditions)) return;
  // The resourceVersion makes this a conflict, not an overwrite, when another client wrote conditions meanwhile.
  const written: readonly Wire<V1Condition>[] = conditions;
  const document = { metadata: { resourceVersion: config.resourceVersion }, status: { conditions: written } };
  const target = { name: CLUSTER_CONFIG_NAME, subresource: "status" };
  await api.patch(Resource.clusterConfigs, target, { body: { kind: "merge", document }, signal });
}
