// What every reconcile begins with: the plan, the settings, the ClusterVersion.
import { type ReadApi, readOptional } from "../../k8s/api.ts";
import { Resource } from "../../k8s/types.ts";
import { entryOf, textMapAt } from "../../json.ts";
import { errorText } from "../../log.ts";
import { CLUSTER_VERSION_NAME, Upgrades } from "../names.ts";
import { type ClusterVersion, parseClusterVersion } from "../decide/types/cluster.ts";
import { type ConfigReading, parseOperatorConfig } from "../decide/types/operator_config.ts";
import { parseUpgradeConfig, type UpgradeConfig } from "../decide/types/plan.ts";
import { type ReconcileInput, withTargetUnderWay } from "../decide/reconcile.ts";
import type { Observation, UpgradeFacts } from "../decide/types/observed.ts";

export interface UpgradeInput extends Omit<ReconcileInput, "isDrainForbidden"> {
  readonly known: UpgradeConfig | undefined;
  readonly facts: UpgradeFacts | undefined;
}

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
  const [object, config, clusterVersion] = await Promise.all([
    observe(
      () => readOptional(api, { type: Resource.upgradeConfigs, namespace, name: Upgrades.config, signal }),
      signal,
    ),
    readConfig(deps, signal),
    observe(() => readClusterVersion(api, signal), signal),
  ]);
  const read = { clusterVersion, config, nowMs };
  if (object.kind === "unknown") return { ...read, plan: object, known: undefined, facts: undefined };
  if (object.value === undefined) return { ...read, plan: { kind: "absent" }, known: undefined, facts: undefined };
  const written = parseUpgradeConfig(object.value);
  const isVersionKnown = clusterVersion.kind === "observed";
  const known = isVersionKnown ? withTargetUnderWay(written, clusterVersion.value) : written;
  const facts = isVersionKnown && config.kind === "parsed"
    ? { plan: known, clusterVersion: clusterVersion.value, config: config.config }
    : undefined;
  return { ...read, plan: { kind: "observed", value: known }, known, facts };
}

export async function readClusterVersion(api: Pick<ReadApi, "get">, signal: AbortSignal): Promise<ClusterVersion> {
  return parseClusterVersion(await api.get(Resource.clusterVersions, { name: CLUSTER_VERSION_NAME }, signal));
}

/** A read that fails is part of the answer; rejects only when the signal aborts. */
export async function readConfig({ readApi, namespace }: InputDeps, signal: AbortSignal): Promise<ConfigReading> {
  const { configMapName: name, configMapKey: key } = Upgrades;
  const read = () => readOptional(readApi, { type: Resource.configMaps, namespace, name, signal });
  const map = await observe(read, signal);
  if (map.kind === "unknown") return map;
  if (map.value === undefined) return { kind: "unparsable", problems: [`the ConfigMap ${name} does not exist`] };
  return parseOperatorConfig(entryOf(textMapAt(map.value, "data"), key) ?? "");
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
