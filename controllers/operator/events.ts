// Events of the operator: in Archway's namespace, about the cluster config, as the MTO posts them.
import { apiVersionOf, Resource } from "../../lib/k8s/types.ts";
import { CLUSTER_CONFIG_NAME } from "../../lib/names.ts";
import type { OperatorDeps } from "./deps.ts";

/** Posts an event about the cluster config. The config has no namespace; its events name ours, where they lie. */
export function recordConfigEvent(
  deps: OperatorDeps,
  event: { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string },
): void {
  const { kind } = Resource.clusterConfigs;
  const apiVersion = apiVersionOf(Resource.clusterConfigs);
  const { namespace } = deps.settings;
  deps.events.record({ object: { apiVersion, kind, name: CLUSTER_CONFIG_NAME, namespace }, ...event });
}
