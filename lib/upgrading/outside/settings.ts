// What the services beside the API server are chosen by: the operator's configuration and the cluster's id.
import type { Clock } from "../../clock.ts";
import { entryOf, textMapAt } from "../../json.ts";
import type { ReadApi } from "../../k8s/api.ts";
import { Resource } from "../../k8s/types.ts";
import { CLUSTER_VERSION_NAME, Upgrades } from "../../upgrade_names.ts";
import { parseClusterVersion } from "../../upgrades/parse/cluster.ts";
import { parseOperatorConfig } from "../../upgrades/parse/operator_config.ts";
import type { OperatorConfig } from "../../upgrades/types/operator_config.ts";
import { KeptValue } from "../http/kept_value.ts";

/** Reads them. */
export interface OutsideSettings {
  /** As it is now. Rejects when it is absent or invalid. */
  config(signal: AbortSignal): Promise<OperatorConfig>;
  /** `spec.clusterID` of the ClusterVersion, kept for a while: it never changes. */
  clusterId(signal: AbortSignal): Promise<string>;
}

const KEEP_MS = 10 * 60_000;

/** Opens the settings; nothing is read yet. */
export function openOutsideSettings(
  { api, namespace, clock }: { readonly api: ReadApi; readonly namespace: string; readonly clock: Clock },
): OutsideSettings {
  const clusterId = new KeptValue(clock, async (signal) => {
    const object = await api.get(Resource.clusterVersions, { name: CLUSTER_VERSION_NAME }, signal);
    return { value: parseClusterVersion(object).clusterId, keepMs: KEEP_MS };
  });
  return {
    config: async (signal) => {
      const object = await api.get(Resource.configMaps, { namespace, name: Upgrades.settings }, signal);
      const reading = parseOperatorConfig(entryOf(textMapAt(object, "data"), Upgrades.settingsKey) ?? "");
      if (reading.kind === "parsed") return reading.config;
      const problems = reading.kind === "unparsable" ? reading.problems.join("; ") : reading.why;
      throw new Error(`Cannot use ConfigMap "${namespace}/${Upgrades.settings}": ${problems}`);
    },
    clusterId: (signal) => clusterId.get(signal),
  };
}
