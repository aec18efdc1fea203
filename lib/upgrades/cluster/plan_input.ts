// What every reconcile begins with: the plan, the settings, the ClusterVersion.
import { type ReadApi, readOptional } from "../../k8s/api.ts";
import { Resource } from "../../k8s/types.ts";
import { entryOf, textMapAt } from "../../json.ts";
import { errorText } from "../../log.ts";
import { CLUSTER_VERSION_NAME, Upgrades } from "../names.ts";
import { parseClusterVersion } from "../decide/types/cluster.ts";
import { type ConfigReading, parseOperatorConfig } from "../decide/types/operator_config.ts";
import { parsePlan, type UpgradeConfig } from "../decide/types/plan.ts";
import { type ReconcileInput, withTargetUnderWay } from "../decide/reconcile.ts";
import type { Base, Observation } from "../decide/types/observed.ts";

export interface UpgradeInput extends ReadInput {
  readonly known: UpgradeConfig | undefined;
  readonly base: Base | undefined;
}

type ReadInput = Omit<ReconcileInput, "isDrainForbidden">;

interface InputDeps {
  readonly readApi: ReadApi;
  readonly namespace: string;
}

/** A read that fails is part of the input; rejects only when the signal aborts. */
export async function readInput(
  deps: InputDeps,
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<UpgradeInput> {
  const { readApi: api, namespace } = deps;
  const [plan, config, clusterVersion] = await Promise.all([
    observe(
      () => readOptional(api, { type: Resource.upgradeConfigs, namespace, name: Upgrades.config, signal }),
      signal,
    ),
    readConfig(deps, signal),
    observe(() => api.get(Resource.clusterVersions, { name: CLUSTER_VERSION_NAME }, signal), signal),
  ]);
  const version: ReconcileInput["clusterVersion"] = clusterVersion.kind === "unknown"
    ? clusterVersion
    : { kind: "observed", value: parseClusterVersion(clusterVersion.value) };
  const read: ReadInput = {
    plan: plan.kind === "unknown"
      ? plan
      : plan.value === undefined
      ? { kind: "absent" }
      : { kind: "observed", value: followed(parsePlan(plan.value), version) },
    clusterVersion: version,
    config,
    nowMs,
  };
  return { ...read, known: read.plan.kind === "observed" ? read.plan.value : undefined, base: baseOf(read) };
}

function followed(plan: UpgradeConfig, clusterVersion: ReconcileInput["clusterVersion"]): UpgradeConfig {
  return clusterVersion.kind === "unknown" ? plan : withTargetUnderWay(plan, clusterVersion.value);
}

function baseOf({ plan, clusterVersion, config }: ReadInput): Base | undefined {
  if (plan.kind !== "observed" || clusterVersion.kind !== "observed" || config.kind !== "parsed") return undefined;
  return { plan: plan.value, clusterVersion: clusterVersion.value, config: config.config };
}

/** A read that fails is part of the answer; rejects only when the signal aborts. */
export async function readConfig({ readApi, namespace }: InputDeps, signal: AbortSignal): Promise<ConfigReading> {
  const { settings: name, settingsKey } = Upgrades;
  try {
    const map = await readOptional(readApi, { type: Resource.configMaps, namespace, name, signal });
    if (map === undefined) return { kind: "unparsable", problems: [`the ConfigMap ${name} does not exist`] };
    return parseOperatorConfig(entryOf(textMapAt(map, "data"), settingsKey) ?? "");
  } catch (error) {
    signal.throwIfAborted();
    return { kind: "unknown", why: errorText(error) };
  }
}

/** What was read, or why it is not known. Rejects only when the signal aborts. */
export async function observe<T>(read: () => Promise<T>, signal: AbortSignal): Promise<Observation<T>> {
  try {
    return { kind: "observed", value: await read() };
  } catch (error) {
    signal.throwIfAborted();
    return { kind: "unknown", why: errorText(error) };
  }
}
